"""Spec in, result out: joins spec, engines and cost into the answers that users ask for."""
