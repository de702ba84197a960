"""The models that read texts: embeddings, entailment, and heads on stored embeddings."""
