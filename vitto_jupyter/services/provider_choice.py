"""Which provider, model and effort a turn uses, and what there is to choose. Built by app.py."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from ..agent.ports import Clock
from ..errors import BadRequest, ProviderError
from ..protocol.requests import ModelChoice, ProviderInfo, ProvidersReply
from ..providers.base import Availability, ModelInfo, Provider
from ..settings import Settings

MENU_TIMEOUT_S = 8.0
TURN_TIMEOUT_S = 60.0
MODELS_KEPT_S = 600.0
AUTO = "auto"
HIDDEN = "scripted"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a session has chosen; None leaves it to the settings."""

    provider: str | None = None
    model: str | None = None
    effort: str | None = None

    def then(self, later: Wish) -> Wish:
        """This wish, overridden by a later one. Another provider voids the model chosen here."""
        kept = self
        if later.provider is not None and later.provider != self.provider:
            kept = Wish()
        return Wish(
            provider=later.provider or kept.provider,
            model=later.model or kept.model,
            effort=later.effort or kept.effort,
        )


@dataclass(frozen=True, slots=True)
class Choice:
    provider: Provider
    model: str
    effort: str | None


class ProviderChoice:
    """Decides by wish and settings. `providers` maps names to providers, in menu order."""

    def __init__(
        self, *, providers: Mapping[str, Provider], settings: Settings, clock: Clock
    ) -> None:
        self._providers = providers
        self._settings = settings
        self._clock = clock
        self._models: dict[str, tuple[float, tuple[ModelInfo, ...]]] = {}

    def check(self, wish: Wish) -> None:
        """Raises BadRequest for a provider that does not exist."""
        if wish.provider is not None and wish.provider not in (AUTO, *self._providers):
            names = ", ".join(name for name in self._providers if name != HIDDEN)
            raise BadRequest(
                f"There is no provider {wish.provider!r}.",
                code="unknown_provider",
                hint=f"The providers are: {AUTO}, {names}.",
            )

    async def provider_for(self, wish: Wish) -> Provider:
        """The provider to use; "auto" is anthropic where it has credentials, else demo."""
        name = wish.provider or self._settings.provider
        if name == AUTO:
            anthropic = self._providers.get("anthropic")
            ready = anthropic is not None and (await anthropic.availability()).available
            name = "anthropic" if ready else "demo"
        if name not in self._providers:
            raise BadRequest(
                f"The settings name a provider {name!r}, which does not exist.",
                code="unknown_provider",
                hint="Set VittoApp.provider to auto, anthropic or demo.",
            )
        return self._providers[name]

    async def choose(self, wish: Wish) -> Choice:
        """Provider, model and effort of a turn.

        Raises:
            BadRequest: the provider does not exist.
            ProviderError: no model is named, and the provider cannot say which there are.
        """
        provider = await self.provider_for(wish)
        return Choice(
            provider=provider,
            model=await self._model(provider, wish),
            effort=wish.effort or self._settings.effort,
        )

    async def _model(self, provider: Provider, wish: Wish) -> str:
        model = wish.model or self._configured_model(provider)
        if model:
            return model
        models = await self._known_models(provider, timeout_s=TURN_TIMEOUT_S)
        if not models:
            raise ProviderError(
                f"{provider.label} offers no model.", code="no_model", hint="Name one in Settings."
            )
        return models[0].id

    def _configured_model(self, provider: Provider) -> str:
        """The model of the settings is one of the configured provider, not of the demo's."""
        is_theirs = self._settings.provider in (provider.name, AUTO) and provider.name != "demo"
        return self._settings.model if is_theirs else ""

    async def _known_models(self, provider: Provider, *, timeout_s: float) -> tuple[ModelInfo, ...]:
        """The provider's models, asked for at most every ten minutes."""
        now = self._clock.monotonic()
        at, models = self._models.get(provider.name, (0.0, ()))
        if models and now - at < MODELS_KEPT_S:
            return models
        try:
            async with asyncio.timeout(timeout_s):
                models = await provider.models()
        except TimeoutError as err:
            raise ProviderError(
                f"{provider.label} did not answer within {timeout_s:g} s.",
                code="unreachable",
                hint="Check the network, the proxy and the base URL.",
                retryable=True,
            ) from err
        self._models[provider.name] = (now, models)
        return models

    async def overview(self, wish: Wish) -> ProvidersReply:
        """All providers with their models, and what a new turn would use. Raises nothing."""
        shown = [p for name, p in self._providers.items() if name != HIDDEN]
        infos = await asyncio.gather(*(self._describe(provider) for provider in shown))
        wished = wish.provider or self._settings.provider
        try:
            name = (await self.provider_for(wish)).name
        except BadRequest:
            name = wished
        models = next((info.models for info in infos if info.name == name), ())
        provider = self._providers.get(name)
        model = wish.model or (self._configured_model(provider) if provider else "")
        return ProvidersReply(
            providers=tuple(infos),
            provider=name,
            model=model or (models[0].id if models else ""),
            effort=wish.effort or self._settings.effort,
        )

    async def _describe(self, provider: Provider) -> ProviderInfo:
        availability = await provider.availability()
        models: tuple[ModelInfo, ...] = ()
        if availability.available:
            try:
                models = await self._known_models(provider, timeout_s=MENU_TIMEOUT_S)
            except ProviderError as err:
                availability = Availability(available=False, reason=err.message, hint=err.hint)
        return ProviderInfo(
            name=provider.name,
            label=provider.label,
            available=availability.available,
            reason=availability.reason,
            hint=availability.hint,
            models=tuple(_choice(model) for model in models),
        )


def _choice(model: ModelInfo) -> ModelChoice:
    return ModelChoice(
        id=model.id,
        label=model.label,
        efforts=model.efforts,
        context_tokens=model.context_tokens,
    )
