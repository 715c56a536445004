import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Schema } from "effect"
import type { Command } from "../../../src/actors/account/core/AccountProtocol.ts"
import { PersistedCommand } from "../../../src/actors/account/core/AccountProtocol.ts"
import { AccountId, AppId, StatusId } from "../../../src/services/database/Ids.ts"
import { persisted } from "../../../src/services/database/Persisted.ts"
import { type CommandResponse, PersistedResponse } from "../../../src/services/intents/Commands.ts"
import { PersistedPost } from "../../../src/services/statuses/Post.ts"
import { post } from "../../support/Posts.ts"

describe("JSON in rows", () => {
  it.effect("a post scheduled before versions were stored, and one before it had files", () =>
    Effect.gen(function*() {
      const stored = {
        text: "later",
        spoilerText: "",
        sensitive: null,
        visibility: "private",
        language: "de",
        inReplyToId: "116594812847226880",
        applicationId: "7",
        allowedMentions: null,
        mediaIds: ["9"],
        poll: { options: ["a", "b"], seconds: 300, multiple: false, hideTotals: true },
        quoteApprovalPolicy: "followers"
      }
      const found = yield* PersistedPost.decode(stored)
      assert.deepInclude(found, {
        text: "later",
        spoilerText: "",
        sensitive: null,
        language: "de",
        visibility: "private"
      })
      assert.deepInclude(found, {
        inReplyToId: StatusId.make(116_594_812_847_226_880n),
        applicationId: AppId.make(7n),
        poll: stored.poll
      })
      const { mediaIds: _mediaIds, poll: _poll, quoteApprovalPolicy: _policy, ...older } = stored
      assert.deepInclude(yield* PersistedPost.decode(older), { mediaIds: null, poll: null, quoteApprovalPolicy: null })
    }))

  it.effect("commands left from before versions were stored", () =>
    Effect.gen(function*() {
      const carried = yield* PersistedCommand.decode({ _tag: "CarryOver", from: "1", to: "2" })
      assert.deepStrictEqual(carried, { _tag: "CarryOver", from: AccountId.make(1n), to: AccountId.make(2n) })
      const command: Command = { _tag: "Publish", post: post("hello", { spoilerText: "cw" }) }
      const json: unknown = JSON.parse(yield* PersistedCommand.encode(command))
      assert.deepInclude(json, { _tag: "Publish", version: 1 })
      assert.deepStrictEqual(yield* PersistedCommand.decode(json), command)
    }))

  it.effect("responses stored before versions were", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* PersistedResponse.decode({ id: "7", kind: "report" }), { id: "7", kind: "report" })
      const response: CommandResponse = {
        id: "8",
        kind: "status",
        standing: { limit: 300, remaining: 299, resetAt: 1 }
      }
      assert.deepStrictEqual(yield* PersistedResponse.decode({ ...response }), response)
      const json: unknown = JSON.parse(yield* PersistedResponse.encode(response))
      assert.deepInclude(json, { id: "8", kind: "status", version: 1 })
      assert.deepStrictEqual(yield* PersistedResponse.decode(json), response)
    }))

  it.effect("data of a newer version is not misread", () =>
    Effect.gen(function*() {
      const Kept = Schema.Struct({ text: Schema.String })
      const newer: unknown = JSON.parse(yield* persisted(Kept, 2).encode({ text: "new" }))
      assert.deepStrictEqual(yield* persisted(Kept, 2).decode(newer), { text: "new" })
      const exit = yield* Effect.exit(persisted(Kept, 1).decode(newer))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    }))
})
