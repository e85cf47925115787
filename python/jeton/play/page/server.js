// Questions to the server of this page.

/** The answer to a question, as JSON or as bytes. */
export async function ask(route, question = {}, signal = undefined) {
  return answer(() => fetch(`api/${route}`, { method: "POST", body: JSON.stringify(question), signal }));
}

const MAX_UPLOAD = 250 * 2 ** 20; // a little less than the server reads

/** The card of files that were dropped. */
export async function upload(files) {
  if (files.reduce((sum, file) => sum + file.size, 0) > MAX_UPLOAD) throw new Error(`${files[0].name} has more than 250 MB: give its path to jeton play instead.`);
  const head = JSON.stringify({ names: files.map((file) => file.name), sizes: files.map((file) => file.size) });
  return answer(() => fetch("api/upload", { method: "POST", body: new Blob([`${head}\n`, ...files]) }));
}

async function answer(request) {
  let response;
  try {
    response = await request();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("jeton play does not answer: is it still running in the terminal? The page goes on when it does.");
  }
  const isBytes = response.headers.get("content-type")?.startsWith("application/octet-stream");
  if (isBytes) return response.arrayBuffer();
  if (response.status === 404) throw new Error("This page is of a jeton play that has ended: open the address that the terminal shows now.");
  const found = await response.json().catch(() => ({ error: `status ${response.status}` }));
  if (!response.ok) throw new Error(found.error);
  return found;
}

/** What `encode` and `window` answer: a head in JSON, and for each card its columns. */
export function columns(buffer) {
  if (!(buffer instanceof ArrayBuffer)) return buffer;
  const size = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  let at = 4 + size;
  for (const card of head.cards) {
    if (card.error) continue;
    const length = card.stop - card.start;
    const words = () => { const part = new Uint32Array(buffer, at, length); at += 4 * length; return part; };
    card.ids = words();
    card.starts = words();
    card.ends = words();
    card.flags = new Uint8Array(buffer, at, length);
    at += length + ((4 - (length % 4)) % 4);
  }
  return head;
}

export const SPECIAL = 1;
export const PART = 2;
