"""Which provider, model and effort a turn uses."""

from __future__ import annotations

import asyncio

import pytest

from vitto_jupyter.errors import BadRequest, ProviderError
from vitto_jupyter.providers.base import Availability, ModelInfo
from vitto_jupyter.services import provider_choice
from vitto_jupyter.services.clock import SystemClock
from vitto_jupyter.services.provider_choice import ProviderChoice, Wish
from vitto_jupyter.settings import Settings
from vitto_jupyter.testing.doubles import FakeClock


class Source:
    """A provider; `fault` is raised in place of its models."""

    def __init__(self, name: str, *models: str, ready: bool = True) -> None:
        self.name, self.label = name, name.title()
        self.ready = ready
        self.offered = tuple(ModelInfo(id=model, label=model) for model in models)
        self.fault: ProviderError | None = None
        self.asked = 0

    async def availability(self) -> Availability:
        return Availability(self.ready, "" if self.ready else "No key.", "Set a key.")

    async def models(self) -> tuple[ModelInfo, ...]:
        self.asked += 1
        if self.fault is not None:
            raise self.fault
        return self.offered


@pytest.fixture
def anthropic() -> Source:
    return Source("anthropic", "best", "small")


def choice_of(anthropic: Source, clock=None, **settings) -> ProviderChoice:
    providers = {"anthropic": anthropic, "demo": Source("demo", "demo")}
    return ProviderChoice(
        providers=providers, settings=Settings(**settings), clock=clock or SystemClock()
    )


async def chosen(choice: ProviderChoice, wish: Wish | None = None) -> tuple[str, str, str | None]:
    made = await choice.choose(wish or Wish())
    return made.provider.name, made.model, made.effort


async def test_auto_is_anthropic_with_its_best_model_when_there_is_a_key(anthropic) -> None:
    assert await chosen(choice_of(anthropic)) == ("anthropic", "best", None)


async def test_auto_is_the_demo_without_a_key(anthropic) -> None:
    anthropic.ready = False
    # the model of the settings is meant for Claude, not for the demo
    assert await chosen(choice_of(anthropic, model="set")) == ("demo", "demo", None)


async def test_a_model_that_is_named_needs_no_list(anthropic) -> None:
    choice = choice_of(anthropic, model="set", effort="high")
    assert await chosen(choice) == ("anthropic", "set", "high")
    assert await chosen(choice, Wish(model="wished", effort="low")) == (
        "anthropic",
        "wished",
        "low",
    )
    assert anthropic.asked == 0


async def test_a_session_may_use_another_provider(anthropic) -> None:
    choice = choice_of(anthropic, provider="anthropic", model="set")
    assert await chosen(choice, Wish(provider="demo")) == ("demo", "demo", None)


@pytest.mark.parametrize(
    ("earlier", "later", "result"),
    [
        (Wish("a", "m", "low"), Wish(), Wish("a", "m", "low")),
        (Wish("a", "m", "low"), Wish(model="n"), Wish("a", "n", "low")),
        (Wish("a", "m", "low"), Wish(provider="a"), Wish("a", "m", "low")),
        (Wish("a", "m", "low"), Wish(provider="b"), Wish("b", None, None)),
        (Wish(), Wish("b", "n", "max"), Wish("b", "n", "max")),
    ],
)
def test_a_later_wish_counts_and_another_provider_voids_the_model(earlier, later, result) -> None:
    assert earlier.then(later) == result


def test_a_provider_that_does_not_exist_is_refused(anthropic) -> None:
    with pytest.raises(BadRequest, match="nobody"):
        choice_of(anthropic).check(Wish(provider="nobody"))


async def test_settings_with_an_unknown_provider_say_what_to_set(anthropic) -> None:
    choice = choice_of(anthropic, provider="nobody")
    with pytest.raises(BadRequest) as refused:
        await choice.choose(Wish())
    assert "VittoApp.provider" in refused.value.hint
    assert (await choice.overview(Wish())).provider == "nobody"


async def test_models_are_asked_for_again_only_after_a_while(anthropic) -> None:
    clock = FakeClock()
    choice = choice_of(anthropic, clock=clock)
    await chosen(choice)
    await chosen(choice)
    assert anthropic.asked == 1
    await clock.sleep(3600)
    await chosen(choice)
    assert anthropic.asked == 2


async def test_a_provider_that_cannot_be_reached_is_shown_with_its_reason(anthropic) -> None:
    anthropic.fault = ProviderError("No network.", code="unreachable", hint="Check the cable.")
    reply = await choice_of(anthropic).overview(Wish())
    (info, demo) = reply.providers
    assert (info.available, info.reason, info.hint) == (False, "No network.", "Check the cable.")
    assert demo.available
    assert (reply.provider, reply.model) == ("anthropic", "")


async def test_a_silent_provider_does_not_hold_up_the_menu(anthropic, monkeypatch) -> None:
    async def silent() -> tuple[ModelInfo, ...]:
        await asyncio.Event().wait()
        raise AssertionError

    anthropic.models = silent
    monkeypatch.setattr(provider_choice, "MENU_TIMEOUT_S", 0.05)
    reply = await asyncio.wait_for(choice_of(anthropic).overview(Wish()), 10)
    assert not reply.providers[0].available
    assert "did not answer" in reply.providers[0].reason
