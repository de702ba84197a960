"""An assistant of LangChain whose spans the OpenInference instrumentor writes to a file. Usage: FILE."""

import sys

from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

SHELF = [
    Document("Transfers arrive within two working days.", id="c7", metadata={"source": "transfers.md", "score": 0.9}),
    Document('{"fee": 5, "currency": "EUR"}', id="c9", metadata={"source": "fees.md", "score": 0.25}),
]


class Retriever(BaseRetriever):
    """A retriever that always finds the same shelf."""

    def _get_relevant_documents(self, query, *, run_manager):
        return SHELF


with open(sys.argv[1], "w", encoding="utf-8") as file:
    provider = TracerProvider(resource=Resource.create({"service.name": "assistant", "service.version": "2.3"}))
    exporter = ConsoleSpanExporter(out=file, formatter=lambda span: span.to_json(indent=None) + "\n")
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    LangChainInstrumentor().instrument(tracer_provider=provider)
    prompt = ChatPromptTemplate.from_template("{context}\n{question}")
    model = FakeListChatModel(responses=["Two working days.", '["It", "depends"]'])
    chain = {"context": Retriever(), "question": RunnablePassthrough()} | prompt | model | StrOutputParser()
    chain.invoke("How long does a transfer take?", config={"metadata": {"session_id": "s1"}})
    # the second chain takes and gives objects
    answers = RunnablePassthrough.assign(context=(lambda call: call["question"]) | Retriever())
    (answers | RunnablePassthrough.assign(answer=prompt | model | StrOutputParser())).invoke({"question": "And a fee?"})
