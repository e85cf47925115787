"""What a turn of `extend` costs after 50 and after 650 turns: `python benchmarks/rollouts.py`.

Each turn adds an answer of five tokens and a question of twenty. Times are of the processor, the
best of several runs.
"""

from __future__ import annotations

import time

import jeton

TURNS = (50, 650)
RUNS = 5
QUESTION = "The weather is fine and better than last week, and so on: a tool said nothing.\n"


def row(tok: jeton.Tokenizer, turns: int) -> str:
    """Turns, tokens and milliseconds of one more turn."""
    asked = {"role": "user", "content": QUESTION}
    messages = [asked, {"role": "assistant", "content": QUESTION}] * turns
    chat = tok.chat([*messages, asked], template="chatml", add_generation_prompt=True)
    sampled = tok.encode("Well, it is fine.")
    rollout = chat.extend(sampled, messages=[asked])
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        rollout.extend(sampled, messages=[asked])
        times.append(time.process_time() - start)
    return f"{turns:5}{len(rollout):9,}{min(times) * 1e3:9.1f}"


def main() -> None:
    print("turns   tokens       ms")
    for turns in TURNS:
        print(row(jeton.load("jeton-4k"), turns))


if __name__ == "__main__":
    main()
