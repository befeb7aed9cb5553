"""Prefill and decode of a language model: weights, cache, products and the network."""

from weft.engines.analytic.inference.model import Service, serve, throughput_over, tokens_per_s
from weft.engines.analytic.inference.search import Ways, resolve

__all__ = ["Service", "Ways", "resolve", "serve", "throughput_over", "tokens_per_s"]
