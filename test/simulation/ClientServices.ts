import { Context, Effect, Layer, Redacted } from "effect"
import * as PushRunner from "../../src/actors/agenda/PushRunner.ts"
import * as StreamRenderings from "../../src/http/render/StreamRenderings.ts"
import { Renderings } from "../../src/http/streaming/Renderings.ts"
import * as Services from "../../src/layers/Services.ts"
import { Broadcast } from "../../src/services/events/Broadcast.ts"
import { UserCatalogs } from "../../src/services/instance/UserCatalogs.ts"
import { english } from "../../src/services/languages/Catalogs.ts"
import { MailExchanges } from "../../src/services/moderation/MailExchanges.ts"
import { IdentityProvider } from "../../src/services/oidc/IdentityProvider.ts"
import { SealedTokens } from "../../src/services/push/SealedTokens.ts"
import { Translator } from "../../src/services/translation/Translator.ts"
import type { Machine } from "./Machine.ts"
import * as PushService from "./PushService.ts"
import { unusedServices } from "./UnusedServices.ts"
import type { World } from "./World.ts"

/** A node's renderings for clients; undefined for runs without them. */
export class Shown extends Context.Service<Shown, Renderings["Service"] | undefined>()(
  "murmuration/test/simulation/Shown"
) {}

/** Returns the authors that a rendered entity names, at any depth. */
const authorsIn = (value: unknown): ReadonlyArray<bigint> => {
  if (typeof value !== "object" || value === null) return []
  const inside = Object.values(value).flatMap(authorsIn)
  const account: unknown = "account" in value ? value.account : undefined
  const isAccount = typeof account === "object" && account !== null && "id" in account
  return isAccount ? [BigInt(String(account.id)), ...inside] : inside
}

/** I18: renderings contain no author whose suspension is certain throughout the rendering. */
const withoutSuspended = (world: World, machine: Machine) => {
  const watched = <A>(what: string, texts: (response: A) => ReadonlyArray<string>, rendering: Effect.Effect<A>) =>
    Effect.suspend(() => {
      const began = world.time.now
      return Effect.tap(rendering, (response) =>
        Effect.sync(() => {
          for (const author of texts(response).flatMap((text) => authorsIn(JSON.parse(text)))) {
            const since = world.suspensions.since(author, world.time.now)
            // A rendering of the same millisecond may have begun before the response to the moderator.
            if (since === undefined || since >= began) continue
            world.wrong.push(`I18: ${machine.name} shows ${what} of the suspended ${author}`)
          }
        }))
    })
  return (real: Renderings["Service"]): Renderings["Service"] => ({
    ...real,
    status: (id, viewers) =>
      watched(`the status ${id}`, (views) => [...views.values()].map(({ text }) => text), real.status(id, viewers)),
    notification: (account, id) =>
      watched(`the notification ${id}`, (text) => text === undefined ? [] : [text], real.notification(account, id))
  })
}

/** Renders bus messages for streams like the node's hub. */
const streams = (renderings: Renderings["Service"]) =>
  Effect.gen(function*() {
    const bus = yield* Broadcast
    const scope = yield* Effect.scope
    const context = yield* Effect.context()
    yield* bus.onMessage((message) => {
      const rendering: Effect.Effect<unknown> | undefined = message._tag === "StatusEvent"
        ? renderings.status(message.statusId, message.accountIds)
        : message._tag === "NotificationCreated"
        ? renderings.notification(message.accountId, message.notificationId)
        : undefined
      if (rendering !== undefined) Effect.runForkWith(context)(Effect.forkIn(Effect.ignoreCause(rendering), scope))
    })
  })

const tokens = SealedTokens.of({
  encrypt: () => Effect.succeed(new Uint8Array()),
  decrypt: () => Redacted.make("a token")
})

/** Parts of a node outside its actors, for runs that check them: streams, readers and phones. */
export const layer = (world: World, machine: Machine) => {
  const shown = Layer.effect(
    Shown,
    Effect.gen(function*() {
      const renderings = withoutSuspended(world, machine)(yield* Renderings)
      yield* streams(renderings)
      return renderings
    })
  ).pipe(Layer.provide(StreamRenderings.layer))
  const phones = PushRunner.layer.pipe(
    Layer.provide(PushService.contents(world)),
    Layer.provide([
      PushService.pushes(world),
      Layer.succeed(SealedTokens, tokens),
      Layer.succeed(UserCatalogs, { of: () => Effect.succeed(english) })
    ])
  )
  return Layer.merge(shown, phones).pipe(
    Layer.provide(Services.layer),
    Layer.provide([
      unusedServices,
      PushService.delay(world, machine),
      MailExchanges.layerOf(),
      Layer.succeed(IdentityProvider, undefined),
      Layer.succeed(Translator, undefined)
    ])
  )
}
