import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../support/Eventually.ts"
import { fedifyPeer } from "../support/FedifyPeer.ts"
import { fediverse, settled, startInstance } from "../support/Fediverse.ts"

interface Shown {
  readonly emoji_reactions?: ReadonlyArray<{ readonly name: string; readonly count: number; readonly me: boolean }>
}
const short = ({ emoji_reactions: reactions = [] }: Shown) =>
  reactions.map(({ count, me, name }) => `${name} ${count}${me ? " me" : ""}`).join(", ")
const pathOf = (id: string, name: string) => `/api/v1/pleroma/statuses/${id}/reactions/${encodeURIComponent(name)}`

describe("emoji reactions among servers", () => {
  it.live("between two of our servers: they appear on both sides, and end there", () =>
    Effect.gen(function*() {
      const instances = yield* fediverse(2)
      const [here, there] = [instances[0]!, instances[1]!]
      yield* there.sql`INSERT INTO custom_emojis (id, shortcode, url, static_url, created_at)
        VALUES (51, 'owl', ${`${there.origin}/owl.png`}, ${`${there.origin}/owl.png`}, now())`
      const [anna, zoe] = [yield* here.person("anna"), yield* there.person("zoe")]
      yield* zoe.follow(anna)
      yield* settled(instances)
      const status = yield* anna.post("hello")
      const [seen] = yield* eventually(zoe.home, ({ length }) => length === 1)
      yield* zoe.ask("PUT", pathOf(seen.id, "🔥"))
      const read = anna.ask("GET", `/api/v1/statuses/${status.id}`)
      yield* eventually(read, (now) => short(now) === "🔥 1")
      yield* anna.ask("PUT", pathOf(status.id, "🔥"))
      assert.strictEqual(short(yield* read), "🔥 2 me")
      yield* zoe.ask("PUT", pathOf(seen.id, "owl"))
      yield* eventually(read, (now) => short(now) === `🔥 2 me, owl@${there.domain} 1`)
      // Viewers may use existing remote emoji.
      yield* anna.ask("PUT", pathOf(status.id, `owl@${there.domain}`))
      const told = yield* anna.ask("GET", "/api/v1/notifications?types[]=pleroma:emoji_reaction")
      assert.strictEqual(told[0].emoji, `owl@${there.domain}`)
      yield* zoe.ask("DELETE", pathOf(seen.id, "🔥"))
      yield* zoe.ask("DELETE", pathOf(seen.id, "owl"))
      yield* eventually(read, (now) => short(now) === `🔥 1 me, owl@${there.domain} 1 me`)
      assert.strictEqual(short(yield* zoe.ask("GET", `/api/v1/statuses/${seen.id}`)), "")
      yield* settled(instances)
      assert.deepStrictEqual(yield* anna.ask("GET", "/api/v1/notifications?types[]=pleroma:emoji_reaction"), [])
    }).pipe(Effect.scoped), 120_000)

  it.live("with a server built with Fedify, both ways", () =>
    Effect.gen(function*() {
      const peer = yield* fedifyPeer
      const ada = yield* (yield* startInstance()).person("ada")
      yield* ada.follow(peer)
      yield* eventually(ada.relationship(peer), (now) => now?.following === true)
      const status = yield* ada.post("hello")
      const reaction = yield* peer.react(status.uri, ada.uri, "🔥")
      const read = ada.ask("GET", `/api/v1/statuses/${status.id}`)
      yield* eventually(read, (now) => short(now) === "🔥 1")
      yield* peer.undo(reaction, ada.uri)
      yield* eventually(read, (now) => short(now) === "")

      yield* peer.post("<p>there</p>", ada.uri)
      const home = yield* eventually(ada.home, ({ length }) => length === 2)
      const theirs = home.find(({ account }) => account.acct === peer.handle)
      yield* ada.ask("PUT", pathOf(theirs.id, "🦆"))
      const received = yield* peer.waitFor(({ type }) => type === "EmojiReact")
      assert.deepInclude(received, { actor: ada.uri, object: theirs.uri, content: "🦆" })
      yield* ada.ask("DELETE", pathOf(theirs.id, "🦆"))
      yield* peer.waitFor(({ type }) => type === "Undo")
    }).pipe(Effect.scoped), 120_000)
})
