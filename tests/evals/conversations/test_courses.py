"""Every conversation holds on the real engine, and every wrong course of it fails."""

import pytest

from evals.conversations.course import ConversationCase
from evals.conversations.loader import load_conversations
from evals.conversations.play import play_conversation
from evals.play.environment import PlayEnvironment

CONVERSATIONS = load_conversations()


@pytest.mark.table
@pytest.mark.engine
@pytest.mark.anyio
@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.id)
async def test_the_right_course_holds_and_wrong_ones_fail(
    conversation: ConversationCase, engine_environment: PlayEnvironment
) -> None:
    right = await play_conversation(conversation, engine_environment)
    assert not right.faults + right.misfits, "; ".join(right.faults + right.misfits)
    for course in conversation.wrong:
        played = await play_conversation(conversation, engine_environment, course=course)
        assert played.faults, f"did not fail: {course.because}"
