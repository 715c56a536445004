import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountActors } from "../../../src/actors/account/core/AccountActors.ts"
import { person } from "../../support/People.ts"
import { layerStreams, listener } from "./Streams.ts"

layer(layerStreams, { excludeTestServices: true })("Staff", (it) => {
  it.effect("only commands of its accounts are announced", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { tell } = yield* AccountActors
      const [owner, member] = [yield* person("owner1"), yield* person("member1")]
      yield* sql`UPDATE users SET role_id = (SELECT id FROM roles WHERE name = 'Owner') WHERE account_id = ${owner}`
      const reader = yield* listener("reader1", "?stream=user")
      const create = { _tag: "CreateAnnouncement", announcement: { text: "Hello" }, unpublished: false } as const
      const announcement = yield* tell(owner, create)
      const announcementId = BigInt(announcement.id)
      const next = Effect.map(reader.next, ({ event, payload }) => [event, payload])
      const announced = yield* next
      assert.strictEqual(announced[0], "announcement")
      const commands = [
        create,
        { _tag: "UpdateAnnouncement", announcementId, change: { text: "Mine" } },
        { _tag: "PublishAnnouncement", announcementId },
        { _tag: "UnpublishAnnouncement", announcementId },
        { _tag: "DeleteAnnouncement", announcementId }
      ] as const
      for (const command of commands) {
        const refused = yield* Effect.flip(tell(member, command))
        assert.strictEqual(refused._tag, "NotAllowed", command._tag)
      }
      yield* tell(owner, { _tag: "UnpublishAnnouncement", announcementId })
      assert.deepStrictEqual(yield* next, ["announcement.delete", announcement.id])
      yield* tell(owner, { _tag: "UpdateAnnouncement", announcementId, change: { text: "Hello again" } })
      yield* tell(owner, { _tag: "PublishAnnouncement", announcementId })
      const [event, payload] = yield* next
      assert.strictEqual(event, "announcement")
      assert.include(payload, "Hello again")
      yield* tell(owner, { _tag: "DeleteAnnouncement", announcementId })
      assert.deepStrictEqual(yield* next, ["announcement.delete", announcement.id])
      const gone = yield* Effect.flip(tell(owner, { _tag: "PublishAnnouncement", announcementId }))
      assert.strictEqual(gone._tag, "RecordNotFound")
    }).pipe(Effect.scoped))
})
