"""The model list of Anthropic and of other servers, and what requests make of it."""

from __future__ import annotations

from typing import Any

import pytest
from model_turns import say
from provider_turns import KEY, MODEL, Serve, pieces_of, provider_for, request

from vitto_jupyter.errors import ProviderError
from vitto_jupyter.providers.base import Answer, ModelInfo, TokenUsage

LOCAL: dict[str, Any] = {
    "validate": False,
    "any_model": True,
    "models": "ids",
    "extra_models": ("qwen3:8b", "llama3"),
    "usage": False,
    "foreign_signatures": "allow",
}


async def test_all_pages_of_the_list_are_read(serve: Serve):
    server = serve(models_per_page=3)
    models = await provider_for(server).models()
    assert len(models) == 10
    assert [record["path"] for record in server.requests] == ["/v1/models"] * 4
    assert models[0].id == MODEL
    assert models[0].thinking == "adaptive"


async def test_the_list_is_asked_for_once(serve: Serve):
    server = serve(say("a"), say("b"))
    provider = provider_for(server)
    await provider.models()
    await pieces_of(provider)
    await pieces_of(provider)
    assert [record["path"] for record in server.requests].count("/v1/models") == 1


async def test_a_request_without_a_model_uses_the_default(serve: Serve):
    server = serve(say("a"))
    await pieces_of(provider_for(server), request(model=""))
    assert server.calls()[0]["body"]["model"] == MODEL


async def test_the_effort_is_sent_to_models_that_have_it(serve: Serve):
    server = serve(say("a"), say("b"))
    provider = provider_for(server)
    await pieces_of(provider, request(effort="xhigh"))
    await pieces_of(provider, request(effort="xhigh", model="claude-haiku-4-5"))
    with_effort, without = (call["body"] for call in server.calls())
    assert with_effort["output_config"] == {"effort": "xhigh"}
    assert "output_config" not in without
    assert server.rejected() == []


async def test_a_local_server_needs_no_key_and_no_capabilities(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    server = serve(say("Hello."), **LOCAL)
    provider = provider_for(server)
    assert (await provider.availability()).available
    assert provider.label == f"Messages API at 127.0.0.1:{server.port}"
    assert await provider.models() == (
        ModelInfo(id="qwen3:8b", label="qwen3:8b", images=False),
        ModelInfo(id="llama3", label="llama3", images=False),
    )
    answer = (await pieces_of(provider, request(model="")))[-1]
    assert answer == Answer(({"type": "text", "text": "Hello."},), "end_turn", TokenUsage())
    body = server.calls()[0]["body"]
    assert body["max_tokens"] == 8_192
    assert "thinking" not in body and "output_config" not in body


async def test_without_a_list_the_configured_model_is_used(serve: Serve):
    server = serve(say("a"), say("b"), **{**LOCAL, "models": "none"})
    provider = provider_for(server, model="qwen3:8b")
    assert [info.id for info in await provider.models()] == ["qwen3:8b"]
    await pieces_of(provider, request(model=""))
    assert server.calls()[0]["body"]["model"] == "qwen3:8b"


async def test_without_a_list_a_model_that_is_named_is_used(serve: Serve):
    server = serve(say("a"), say("b"), **{**LOCAL, "models": "none"})
    provider = provider_for(server)
    with pytest.raises(ProviderError) as caught:
        await provider.models()
    assert caught.value.code == "not_an_api"
    await pieces_of(provider, request(model="llama3"))
    await pieces_of(provider, request(model="llama3"))
    listings = [record for record in server.requests if record["path"] == "/v1/models"]
    assert len(listings) == 2  # one by models(), one by the first request, none by the second


async def test_a_server_that_lists_nothing_says_so(serve: Serve):
    server = serve(**{**LOCAL, "extra_models": ()})
    with pytest.raises(ProviderError) as caught:
        await provider_for(server).models()
    assert caught.value.code == "no_models"


@pytest.mark.parametrize("field", ["thinking", "output_config", "eager_input_streaming",
                                   "cache_control"])  # fmt: skip
async def test_a_field_that_the_server_refuses_is_left_out_from_then_on(serve: Serve, field: str):
    server = serve(say("a"), say("b"), refuses=(field,))
    provider = provider_for(server)
    for _ in range(2):
        answer = (await pieces_of(provider, request(effort="high")))[-1]
        assert isinstance(answer, Answer)
    sent = [field in str(call["body"]) for call in server.calls()]
    assert sent == [True, False, False]


async def test_what_one_model_refuses_is_still_sent_to_another(serve: Serve):
    refusal = {"kind": "http", "status": 400, "message": "adaptive thinking is not supported"}
    server = serve({**say("a"), "fault": refusal}, say("b"))
    provider = provider_for(server)
    await pieces_of(provider)
    await pieces_of(provider, request(model="claude-opus-5-5"))
    assert ["thinking" in call["body"] for call in server.calls()] == [True, False, True]


async def test_fields_that_are_refused_one_after_another_are_all_left_out(serve: Serve):
    refuses = ("thinking", "output_config", "eager_input_streaming", "cache_control")
    server = serve(say("a"), refuses=refuses)
    provider = provider_for(server)
    await pieces_of(provider, request(effort="high"))
    assert [call["status"] for call in server.calls()] == [400, 400, 400, 400, 200]


async def test_a_gateway_gets_the_key_in_both_headers(serve: Serve):
    server = serve(say("a"), api_key=KEY)
    await pieces_of(provider_for(server))
    assert server.calls()[0]["auths"] == ["x-api-key", "bearer"]
