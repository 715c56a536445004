import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Scope } from "effect"
import { HttpClient, HttpRouter } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Caller } from "../../../src/http/guard/Caller.ts"
import { group } from "../../../src/http/guard/Group.ts"
import { Guard } from "../../../src/http/guard/Guard.ts"
import * as Reply from "../../../src/http/guard/Reply.ts"
import { AccountViews } from "../../../src/http/render/AccountViews.ts"
import { StatusViews } from "../../../src/http/render/StatusViews.ts"
import { Account } from "../../../src/http/wire/Account.ts"
import { encode, json, list, withMembers } from "../../../src/http/wire/Keys.ts"
import { type Context as Thread, Status } from "../../../src/http/wire/Status.ts"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { reduceContext } from "../../../src/services/runtime/Lean.ts"

/* The compiler checks most of this: a `@ts-expect-error` above code without an error does not compile. */

class Taken extends Context.Service<Taken, string>()("murmuration/test/http/Taken") {}

class Names extends HttpApiGroup.make("names")
  .add(HttpApiEndpoint.get("carried", "/carried", { success: Account.fields.bot }))
  .middleware(Guard)
{}

class People extends HttpApiGroup.make("people")
  .add(HttpApiEndpoint.get("show", "/show", { success: Account }))
  .add(HttpApiEndpoint.get("either", "/either", { success: [Account, Status] }))
  .middleware(Guard)
{}

/** Admits everybody. */
const open = Layer.succeed(Guard, (handler) =>
  Effect.orDie(Effect.provideService(handler, Caller, {
    viewer: undefined,
    tokenId: undefined,
    appId: undefined,
    scopes: new Set<string>(),
    locale: undefined,
    address: ""
  })))

const names = group(
  Names,
  Effect.fn(function*(handlers) {
    const taken = yield* Taken
    const asking = () =>
      // @ts-expect-error A handler may not need what only the group takes.
      handlers.handleAll({ carried: () => Effect.map(Taken, () => Reply.json(encode(true))) })
    assert.isFunction(asking)
    return handlers.handleAll({
      carried: () =>
        Effect.contextWith((context: Context.Context<never>) =>
          Effect.succeed(Reply.json(encode(taken === "taken" && context.mapUnsafe.has(Taken.key))))
        )
    })
  })
)

const served = HttpRouter.serve(
  HttpApiBuilder.layer(HttpApi.make("murmuration").add(Names)).pipe(
    Layer.provide(names.pipe(Layer.provide(Layer.succeed(Taken, "taken"))))
  ),
  { disableListenLog: true, disableLogger: true }
).pipe(
  Layer.provide(open),
  Layer.provideMerge(NodeHttpServer.layerTest)
)

/** Responses that compile, and responses that do not. */
const people = Effect.gen(function*() {
  const accounts = yield* AccountViews
  const statuses = yield* StatusViews
  const account = Effect.map(accounts.renderOne(1n), (text) => Reply.json(text))
  const status = Effect.map(statuses.renderOne(undefined, 1n), (text) => Reply.json(text))
  const own = Effect.map(accounts.renderCredentials(AccountId.make(1n)), (text) => Reply.json(text))
  const several = Effect.map(accounts.render([1n]), (texts) => Reply.list(texts))
  return group(People, (handlers) => {
    handlers.handleAll({ show: () => account, either: () => status })
    handlers.handleAll({
      // @ts-expect-error A status is not an account.
      show: () => status,
      // @ts-expect-error A list of accounts is neither.
      either: () => several
    })
    handlers.handleAll({
      // @ts-expect-error The owner's own view is more than an account.
      show: () => own,
      // @ts-expect-error The text alone is not a response.
      either: () => accounts.renderOne(1n)
    })
    // @ts-expect-error Every endpoint has a handler.
    return Effect.succeed(handlers.handleAll({ show: () => account }))
  })
})

describe("a group of endpoints", () => {
  it.effect("does not give its handlers the services that it took", () =>
    Effect.gen(function*() {
      const response = yield* HttpClient.get("/carried")
      assert.strictEqual(yield* response.text, "false")
    }).pipe(Effect.provide(served)))

  it("accepts only renderers of its endpoints' types", () => assert.isTrue(Effect.isEffect(people)))
})

describe("lean", () => {
  it("keeps the named services of this program and promises nothing else", () => {
    const given = Context.make(Taken, "taken").pipe(Context.add(Scope.Scope, Scope.makeUnsafe()))
    const reduced = reduceContext(Taken)(given)
    assert.strictEqual(Context.get(reduced, Taken), "taken")
    const left = reduceContext(Scope.Scope)(given)
    assert.isDefined(Context.get(left, Scope.Scope))
    // @ts-expect-error It was not named.
    assert.throws(() => Context.get(left, Taken))
  })
})

describe("JSON of wire types", () => {
  it("has one type of the wire", () => {
    const texts = [encode("a"), encode("b")]
    assert.strictEqual(list(texts), `["a","b"]`)
    // @ts-expect-error The members of a thread are statuses.
    const thread = withMembers<Thread, "ancestors">({}, { ancestors: list(texts) })
    assert.strictEqual(thread, `{"ancestors":["a","b"]}`)
    // @ts-expect-error Text is not JSON until it is encoded.
    assert.isDefined(Reply.json("text"))
    assert.strictEqual(json<{ readonly first_one: string }>({ firstOne: "a" }), `{"first_one":"a"}`)
  })
})
