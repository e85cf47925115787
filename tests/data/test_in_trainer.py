"""Windows and packed rows in the `Trainer` of transformers: each once, with the right labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jeton.data import IGNORED, TokenDataset, pack
from test_token_dataset import ascending

pytestmark = pytest.mark.large
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")


def model() -> Any:
    torch.manual_seed(1)
    config = transformers.GPT2Config(
        vocab_size=128,
        n_positions=16,
        n_embd=16,
        n_layer=1,
        n_head=2,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
    )
    return transformers.GPT2LMHeadModel(config)


def trained(rows: Any, folder: Path, **options: Any) -> tuple[Any, list[dict[str, Any]]]:
    arguments = transformers.TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=2,
        num_train_epochs=1,
        report_to=[],
        use_cpu=True,
        save_strategy="no",
        disable_tqdm=True,
        logging_steps=1,
        seed=3,
        **options,
    )
    batches: list[dict[str, Any]] = []

    def collated(features: Any) -> Any:
        batches.append(transformers.default_data_collator(features))
        return batches[-1]

    trainer = transformers.Trainer(
        model=model(), args=arguments, train_dataset=rows, data_collator=collated
    )
    trainer.train()
    return trainer, batches


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_windows(tmp_path: Path) -> None:
    tokens: TokenDataset = ascending(tmp_path / "set", 101)
    windows = tokens.windows(8)
    trainer, batches = trained(windows.as_transformers(), tmp_path / "out")
    seen = torch.cat([it["input_ids"] for it in batches]).numpy()
    assert sorted(seen[:, 0].tolist()) == list(range(0, 96, 8))
    assert (np.diff(seen) == 1).all()
    # The loss of the first step is that of the pairs of these windows. The models of transformers
    # shift labels themselves, so the last token of a row has none; and the Trainer divides the sum
    # of a step by the number of labels that are not ignored.
    by_start = {int(x[0]): (x, y) for x, y in (windows[at] for at in range(len(windows)))}
    first = [by_start[int(row[0])] for row in batches[0]["input_ids"]]
    x, y = (torch.as_tensor(np.stack(some)) for some in zip(*first, strict=True))
    logits = model()(x).logits[:, :-1].reshape(-1, 128)
    loss = torch.nn.functional.cross_entropy(logits.float(), y[:, :-1].reshape(-1))
    assert trainer.state.log_history[0]["loss"] == pytest.approx(loss.item(), rel=1e-4)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_packed_rows(tmp_path: Path) -> None:
    documents = [list(range(at, at + at % 7 + 2)) for at in range(30)]
    rows = pack(documents, 16, "bins", shift_labels=False)
    _, batches = trained(rows.as_transformers(), tmp_path / "out", remove_unused_columns=True)
    seen = [row for it in batches for row in it["input_ids"].tolist()]
    assert sorted(seen) == sorted(
        rows.as_transformers()[at]["input_ids"].tolist() for at in range(len(rows))
    )
    learnt = [id for it in batches for id in it["labels"].ravel().tolist() if id != IGNORED]
    # The first token of a document has nothing to be predicted from.
    assert sorted(learnt) == sorted(id for document in documents for id in document[1:])
