import { assert, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { cli } from "../support/CommandLine.ts"
import { eventually } from "../support/Eventually.ts"
import { fediverse, settled, type TestInstance } from "../support/Fediverse.ts"
import { TestServer } from "../support/Server.ts"

const operate = Effect.fnUntraced(function*(instance: TestInstance, ...args: ReadonlyArray<string>) {
  const { code, err } = yield* cli(args, Context.get(instance.context, TestServer).variables)
  assert.strictEqual(code, 0, err)
})

it.live(
  "row 23: an account moves to another server, and its followers on a third one follow the new account",
  () =>
    Effect.gen(function*() {
      const [first, second, third] = yield* fediverse(3)
      const instances = [first!, second!, third!]
      const [anna, ben, neva] = [
        yield* first!.person("anna"),
        yield* second!.person("ben"),
        yield* third!.person("neva")
      ]
      yield* ben.follow(anna)
      yield* settled(instances)
      const { id } = yield* ben.find(anna)
      const left = Effect.map(ben.ask("GET", `/api/v1/accounts/relationships?id=${id}`), ([found]) => found)
      const list = yield* ben.ask("POST", "/api/v1/lists", { title: "Friends" })
      yield* ben.ask("POST", `/api/v1/lists/${list.id}/accounts`, { account_ids: [id] })
      yield* operate(third!, "account", "alias", "add", "neva", anna.handle)
      yield* operate(first!, "account", "move", "anna", neva.handle)
      yield* eventually(ben.relationship(neva), ({ following }) => following === true)
      yield* eventually(left, ({ following }) => following === false)
      yield* settled(instances)
      assert.strictEqual((yield* ben.ask("GET", `/api/v1/accounts/${id}`)).moved.acct, neva.handle)
      assert.deepStrictEqual(yield* neva.notifications, ["follow ben"])
      // Lists also contain the new account.
      const members = yield* ben.ask("GET", `/api/v1/lists/${list.id}/accounts`)
      assert.deepStrictEqual(members.map(({ acct }: { readonly acct: string }) => acct), [neva.handle])
    }).pipe(Effect.scoped)
)
