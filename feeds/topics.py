"""Which shelf a post belongs on, by words anyone can check. Pure: no Django.

A topic is given when the title or a category of the publisher names it, or, where those say nothing, when the text uses
several different terms of it. The reason is kept with the post and shown to readers. A later issue adds similarity by
embeddings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

NAMES_IN_TEXT, TERMS_IN_TEXT = 2, 4
LONGEST_TEXT = 50_000


@dataclass(frozen=True, slots=True)
class TopicRule:
    """``names`` decide alone in a title or category; ``hints`` only add to what a text says.

    Both hold one term a line, as a regular expression in lower case that must match whole words.
    """

    slug: str
    name: str
    names: str
    hints: str


RULES = (
    TopicRule(
        "llm",
        "Large language models",
        names=r"""
            llms?
            language models?
            (?<!vision )transformers?
            tokeni[sz](?:ation|ers?)
            byte-pair encoding
            pre-?training
            gpt(?:-[\w.]+)?
            claude
            gemini
            llama(?: ?\d)?
            rlhf
            kv cache
            mixture of experts
            chatbots?
            vllm
            perplexity
            scaling laws?
            retrieval-augmented generation
            reasoning models?
        """,
        hints=r"""
            attention
            tokens?
            vocabulary
            prompts?
            context window
            fine-tun(?:e|ed|ing)
            embeddings?
            agents?
            decoding
            logits
        """,
    ),
    TopicRule(
        "computer-vision",
        "Computer vision",
        names=r"""
            computer vision
            vision(?: transformers?| models?)?
            convolution(?:s|al)?
            image (?:generation|classification|recognition|models?)
            (?:semantic |instance )?segmentation
            object detection
            diffusion(?: models?)?
            gaussian splatting
            nerfs?
            vits?
            receptive fields?
            masked autoencoders?
            video (?:generation|understanding|models?)
        """,
        hints=r"""
            images?
            pixels?
            patches
            pictures?
            cameras?
            visual
            cnns?
            resnets?
            imagenet
            kernels?
        """,
    ),
    TopicRule(
        "machine-learning",
        "Machine learning",
        names=r"""
            machine learning
            deep learning
            neural networks?
            reinforcement learning
            optimi[sz](?:ation|ers?)
            gradients?
            adamw?
            backpropagation
            distributed training
            data parallel(?:ism)?
            all-reduce
            mixed precision
            learning rates?
            batch size
            numerics
            pytorch
            jax
            training
        """,
        hints=r"""
            loss
            weights?
            batch(?:es)?
            checkpoints?
            regulari[sz]ation
            gpus?
            b?float16
            steps?
            parameters?
            optimi[sz]e
        """,
    ),
)


@cache
def _pattern(terms: str) -> re.Pattern[str]:
    alternatives = "|".join(line.strip() for line in terms.split("\n") if line.strip())
    return re.compile(rf"(?<![\w-])(?:{alternatives})(?![\w-])", re.I)


def classify(title: str, text: str, tags: Iterable[str]) -> dict[str, str]:
    """Topic slug -> the reason in plain words, for a post with this title, text (plain) and publisher's tags.

    The text only decides where title and categories name no topic at all: most texts mention something of each.
    """
    tags = list(tags)
    reasons: dict[str, str] = {}
    for rule in RULES:
        names = _pattern(rule.names)
        if found := names.search(title):
            reasons[rule.slug] = f'the title says "{found[0]}"'
        elif tag := next((tag for tag in tags if names.search(tag)), None):
            reasons[rule.slug] = f'the publisher filed it under "{tag}"'
    return reasons or _by_text(text[:LONGEST_TEXT])


def _by_text(text: str) -> dict[str, str]:
    reasons: dict[str, str] = {}
    for rule in RULES:
        # A plural is no second term.
        named = {found[0].lower().rstrip("s"): found[0].lower() for found in _pattern(rule.names).finditer(text)}
        every = {found[0].lower().rstrip("s") for found in _pattern(rule.names + rule.hints).finditer(text)}
        if len(named) >= NAMES_IN_TEXT and len(every) >= TERMS_IN_TEXT:
            reasons[rule.slug] = "the text speaks of " + " and ".join(list(named.values())[:NAMES_IN_TEXT])
    return reasons
