"""Counting the words of pages, against HashingVectorizer of scikit-learn (required ratio: 3).

Real English, French and German texts are read from the folder that FRESHET_DATA names; without it,
and for Chinese in any case, texts are generated.
"""

import os
from pathlib import Path

import numpy as np
import polars as pl
from resiliparse.extract.html2text import extract_plain_text
from sklearn.feature_extraction.text import HashingVectorizer

from benchmarks.report import BenchmarkResult, compare_rates, report
from freshet.view.words import count_words, split_words, term_id

TEXTS = 40

PARTS = {"english": "claude_docs", "french": "ota_france_ver", "german": "news_de"}
ALPHABETS = {
    "english": "etaoinshrdlucmfwypvbgk",
    "french": "esaitnrulodcmpévqfbghjàxèyêzçœ",
    "german": "enisratdhulcgmobwfkzvüpäßjöy",
}
HAN = "我们会收集您的个人信息包括姓名电子邮件地址和设备标识符以便为您提供更好的服务"


def read_texts(folder: Path, part: str) -> list[str]:
    """Return the texts of real pages, one version each."""
    versions = pl.scan_parquet(folder / "pages" / f"versions_{part}.parquet")
    rows = versions.unique("page", maintain_order=True).select("html", "kind").head(TEXTS).collect()
    return [extract_plain_text(body) if kind == "html" else body for body, kind in rows.rows()]


def generate_texts(alphabet: str, rng: np.random.Generator) -> list[str]:
    """Return texts of made-up words in the letters of a language."""
    letters = np.array(list(alphabet))
    words = ["".join(rng.choice(letters, size)) for size in rng.integers(1, 12, 3000)]
    return [" ".join(words[n % len(words)] for n in rng.zipf(1.3, 3000)) for _ in range(TEXTS)]


def generate_chinese(rng: np.random.Generator) -> list[str]:
    """Return texts of made-up Chinese clauses with their punctuation."""
    letters = np.array(list(HAN))
    clauses = ["".join(rng.choice(letters, size)) for size in rng.integers(4, 17, 400)]
    return ["\uff0c".join(rng.permutation(clauses)) + "\u3002" for _ in range(TEXTS)]


def measure(language: str, texts: list[str]) -> BenchmarkResult:
    """Return megabytes counted a second by both."""
    vectorizer = HashingVectorizer(alternate_sign=False, norm=None)
    check(texts)
    return compare_rates(
        f"terms {language}",
        lambda: [count_words(text) for text in texts],
        lambda: vectorizer.transform(texts),
        amount=sum(len(text.encode()) for text in texts) / 1e6,
        unit="MB/s",
    )


def check(texts: list[str]) -> None:
    """Stop unless every text is counted as its words are, one by one."""
    for text in texts:
        terms = count_words(text)
        ids, counts = np.unique([term_id(word) for word in split_words(text)], return_counts=True)
        if not (np.array_equal(terms.hashes, ids) and np.array_equal(terms.counts, counts)):
            raise SystemExit(f"terms: a text of {len(text)} characters was counted wrongly")


def all_texts(folder: str | None) -> dict[str, list[str]]:
    """Return the texts of every language, real ones where a folder has them."""
    rng = np.random.default_rng(1)
    if folder:
        texts = {language: read_texts(Path(folder), part) for language, part in PARTS.items()}
    else:
        texts = {language: generate_texts(ALPHABETS[language], rng) for language in PARTS}
    return texts | {"chinese": generate_chinese(rng)}


def main() -> None:
    """Print the ratio of every language."""
    texts = all_texts(os.environ.get("FRESHET_DATA"))
    report(*(measure(language, language_texts) for language, language_texts in texts.items()))


if __name__ == "__main__":
    main()
