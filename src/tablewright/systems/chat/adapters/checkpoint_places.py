"""Where a checkpoint of LangGraph is: in a config, in a row, in a key."""

from dataclasses import dataclass

from langchain_core.runnables import RunnableConfig

from tablewright.systems.chat.agent_model import AgentCheckpoint, AgentWrite


@dataclass(frozen=True, slots=True)
class CheckpointPath:
    """Where a checkpoint is: `namespace` is LangGraph's behind a slash, because a part of a key cannot be empty."""

    thread_id: str
    namespace: str
    checkpoint_id: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.thread_id, self.namespace, self.checkpoint_id

    @property
    def config(self) -> RunnableConfig:
        return self.of(self.checkpoint_id)

    def of(self, checkpoint_id: str) -> RunnableConfig:
        names = {"thread_id": self.thread_id, "checkpoint_ns": self.namespace[1:]}
        return {"configurable": {**names, "checkpoint_id": checkpoint_id}}


def place_of(config: RunnableConfig, checkpoint_id: str) -> CheckpointPath:
    named = config["configurable"]
    return CheckpointPath(str(named["thread_id"]), f"/{named.get('checkpoint_ns') or ''}", checkpoint_id)


def place_of_row(row: AgentCheckpoint | AgentWrite) -> CheckpointPath:
    return CheckpointPath(row.thread_id, row.namespace, row.checkpoint_id)
