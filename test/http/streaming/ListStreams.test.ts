import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountActors } from "../../../src/actors/account/core/AccountActors.ts"
import { StatusId } from "../../../src/services/database/Ids.ts"
import { ListMembers } from "../../../src/services/social/ListMembers.ts"
import { OwnedLists } from "../../../src/services/social/OwnedLists.ts"
import { person } from "../../support/People.ts"
import { edit, post } from "../../support/Posts.ts"
import { layerStreams, listen, listener, mark, tokenOf } from "./Streams.ts"

layer(layerStreams, { excludeTestServices: true })("Streams of lists", (it) => {
  it.effect("S-260: carry a list's new, changed and deleted posts, only to its owner, over both kinds of stream", () =>
    Effect.gen(function*() {
      const [actors, lists, members] = [yield* AccountActors, yield* OwnedLists, yield* ListMembers]
      const author = yield* person("author1")
      const other = yield* person("other1")
      const reader = yield* listener("reader1", "?stream=user")
      const { id } = yield* lists.create(reader.account, { title: "Authors" })
      yield* members.addAccounts(reader.account, id, [author])
      yield* reader.send({ type: "subscribe", stream: "list", list: String(id) })
      const foreign = yield* listener("foreign1", `?stream=list&list=${id}`)
      const refused = { error: "Not authorized to stream this list", status: 401 }
      assert.deepStrictEqual(yield* foreign.next, refused)
      yield* foreign.send({ type: "subscribe", stream: "list", list: "x" })
      assert.deepStrictEqual(yield* foreign.next, refused)
      const { secret } = yield* tokenOf(reader.account)
      const { response } = yield* listen(`list?list=${id}`, foreign.secret)
      assert.strictEqual(response.status, 401)
      const events = yield* listen(`list?list=${id}`, secret)
      yield* events.hello

      const published = yield* actors.tell(author, { _tag: "Publish", post: post("for the list") })
      yield* actors.tell(other, { _tag: "Publish", post: post("for nobody") })
      const statusId = StatusId.make(BigInt(published.id))
      const update = yield* reader.next
      assert.deepStrictEqual([update.stream, update.event], [["list", String(id)], "update"])
      assert.strictEqual(JSON.parse(update.payload!).id, published.id)
      assert.match(String(yield* events.next), /event: update/)
      yield* actors.tell(author, edit(statusId, "changed"))
      const changed = yield* reader.next
      assert.deepStrictEqual([changed.stream, changed.event], [["list", String(id)], "status.update"])
      assert.match(String(yield* events.next), /event: status.update/)
      yield* actors.tell(author, { _tag: "Delete", statusId })
      const gone = { stream: ["list", String(id)], event: "delete", payload: published.id }
      assert.deepStrictEqual(yield* reader.next, gone)
      assert.match(String(yield* events.next), /event: delete/)

      // An open stream stays open, without further events.
      yield* members.removeAccounts(reader.account, id, [author])
      yield* actors.tell(author, { _tag: "Publish", post: post("later") })
      yield* reader.send({ type: "unsubscribe", stream: "list", list: String(id) })
      yield* mark(reader.account)
      assert.strictEqual((yield* reader.next).event, "filters_changed")
    }).pipe(Effect.scoped))

  it.effect("home shows a post with a followed hashtag once even if its author is followed; hidden posts are not sent", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const sql = yield* SqlClient.SqlClient
      const [friend, stranger, muted] = [yield* person("friend2"), yield* person("stranger2"), yield* person("muted2")]
      const reader = yield* listener("reader2", "?stream=user")
      const follow = { _tag: "Follow", target: friend, reblogs: null, notify: null, languages: null } as const
      yield* actors.tell(reader.account, follow)
      for (const name of ["birds", "cats"]) yield* actors.tell(reader.account, { _tag: "FollowTag", name })
      yield* actors.tell(reader.account, { _tag: "Mute", target: muted, notifications: true, seconds: 0 })
      const published: Array<string> = []
      for (const [author, text] of [[friend, "#birds #cats"], [muted, "#birds"], [stranger, "#cats #birds"]] as const) {
        const { id } = yield* actors.tell(author, { _tag: "Publish", post: post(text) })
        published.push(id)
        const heard = author === muted ? [] : [id]
        for (const expected of heard) {
          const { event, payload, stream } = yield* reader.next
          assert.deepStrictEqual([stream, event, JSON.parse(payload!).id], [["user"], "update", expected])
        }
      }
      yield* actors.tell(stranger, { _tag: "Delete", statusId: StatusId.make(BigInt(published[2]!)) })
      assert.deepStrictEqual(yield* reader.next, { stream: ["user"], event: "delete", payload: published[2]! })
      yield* mark(reader.account)
      assert.strictEqual((yield* reader.next).event, "filters_changed")
      const [left] = yield* sql<{ count: number }>`SELECT count(*)::int AS count FROM fanouts WHERE kind = 'publish'`
      assert.strictEqual(left?.count, 0)
    }).pipe(Effect.scoped))
})
