import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as ContentLimits from "../../../src/services/instance/ContentLimits.ts"
import * as ForeignLimits from "../../../src/services/instance/ForeignLimits.ts"
import { followsMax } from "../../../src/services/social/Follows.ts"
import { singlesMax } from "../../../src/services/statuses/InteractionPolicy.ts"
import { json, newPerson } from "../../support/Api.ts"
import { sourcesIn } from "../../support/source.ts"
import { eventually, resolved, serve } from "./Exchange.ts"
import { actorOf, found, there } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, servers } from "./Sending.ts"

const published = new Date(Date.now() - 3_600_000).toISOString()
const some = <A>(count: number, one: (place: number) => A) => Array.from({ length: count }, (_, place) => one(place))

describe("bounds of remote profiles", () => {
  it("F87: each is at least as wide as for local accounts", () => {
    // The compiler names a limit that is missing here.
    const ours: Record<keyof typeof ForeignLimits, number> = {
      foreignPinsMax: ContentLimits.pinsMax,
      foreignFeaturedTagsMax: ContentLimits.featuredTagsMax,
      foreignAttachmentsMax: ContentLimits.mediaAttachmentsMax,
      foreignDescriptionCharactersMax: ContentLimits.mediaDescriptionCharactersMax,
      foreignSinglesMax: singlesMax,
      foreignFollowsMax: followsMax
    }
    for (const [name, foreign] of Object.entries(ForeignLimits)) {
      assert.isAtLeast(foreign, ours[name as keyof typeof ForeignLimits], name)
    }
  })

  it("F87: no reader of foreign documents uses a limit of local accounts, except for bytes of storage", () => {
    const used = sourcesIn("src/services/federation").flatMap(({ text }) =>
      /import \{([^}]*)\} from "[./]*instance\/ContentLimits\.ts"/.exec(text)?.[1]?.split(",").map((name) =>
        name.trim()
      ) ?? []
    )
    assert.sameMembers([...new Set(used)], ["accountBytesMax", "statusBytesMax"])
  })
})

layer(servers, { excludeTestServices: true })("more than local accounts may have", (it) => {
  it.effect("F87: a profile keeps ten pins and fifteen hashtags when it is fetched, and accepts one more", () =>
    Effect.gen(function*() {
      const { url } = yield* OtherServer
      const ada = yield* newPerson("ada")
      const [featured, featuredTags] = [`${url}/users/zoe/featured`, `${url}/users/zoe/tags`]
      const zoe = yield* there("zoe", { featured, featuredTags })
      const { id } = yield* found(ada, "zoe")
      const pinned = some(10, (place) => note(zoe, `pin${place}`, { published }))
      const tags = some(15, (place) => ({ type: "Hashtag", name: `#tag${place}` }))
      yield* serve({ id: featured, type: "OrderedCollection", orderedItems: pinned }, {
        id: featuredTags,
        type: "Collection",
        items: tags
      })
      const pins = Effect.map(
        json(ada, `/api/v1/accounts/${id}/statuses?pinned=true`),
        (all: ReadonlyArray<{ uri: string }>) => all.map(({ uri }) => uri)
      )
      const shown = Effect.map(
        json(ada, `/api/v1/accounts/${id}/featured_tags`),
        (all: ReadonlyArray<{ name: string }>) => all.map(({ name }) => name)
      )
      yield* pins
      yield* eventually(Effect.map(shown, (names) => names.length > 0 ? names : undefined))
      assert.sameMembers([...yield* shown], tags.map(({ name }) => name.slice(1)))
      assert.deepStrictEqual<unknown>(yield* pins, pinned.map((post) => post["id"]))
      yield* deliverFrom(zoe, { type: "Add", object: { type: "Hashtag", name: "#more" }, target: featured })
      assert.include(yield* shown, "more")
    }))

  it.effect("F87: a post keeps six files and the thirty accounts that may reply to it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { url } = yield* OtherServer
      const [bob, yan] = [yield* newPerson("bob"), yield* there("yan")]
      const attachment = some(6, (place) => ({ type: "Document", mediaType: "image/png", url: `${url}/${place}.png` }))
      const accounts = some(30, (place) => `https://far.example/users/${place}`)
      const interactionPolicy = { canReply: { automaticApproval: accounts } }
      const post = note(yan, "long", { attachment, interactionPolicy, published })
      yield* serve(post)
      assert.lengthOf(yield* resolved(bob.token, post["id"]), 1)
      const [stored] = yield* sql<
        { files: number; policy: ReadonlyArray<string> }
      >`SELECT cardinality(media_ids) AS files,
        interaction_policy AS policy FROM statuses WHERE uri = ${String(post["id"])}`
      assert.strictEqual(stored?.files, attachment.length)
      for (const account of accounts) {
        assert.include(stored?.policy ?? [], `canReply:automatic:${encodeURIComponent(account)}`)
      }
    }))

  it.effect("F87: a remote account may follow more local accounts than a local account may", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [cleo, xeno] = [yield* newPerson("cleo"), yield* there("xeno")]
      const account = yield* found(cleo, "xeno")
      yield* sql`UPDATE account_stats SET following_count = ${followsMax} WHERE account_id = ${BigInt(account.id)}`
      assert.strictEqual(yield* deliverFrom(xeno, { type: "Follow", object: yield* actorOf(cleo) }), "done")
    }))
})
