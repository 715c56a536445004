import { assert, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import sharp from "sharp"
import { eventually } from "../support/Eventually.ts"
import { fediverse, outcomes, settled, type TestUser } from "../support/Fediverse.ts"

/** Sets up Anna, Ben and Cleo on one server each; the test decides who follows whom. */
const three = Effect.gen(function*() {
  const [first, second, third] = yield* fediverse(3)
  const instances = [first!, second!, third!]
  const [anna, ben, cleo] = [yield* first!.person("anna"), yield* second!.person("ben"), yield* third!.person("cleo")]
  return { anna, ben, cleo, instances, done: settled(instances) }
})

const shown = (by: TestUser, uri: string) =>
  Effect.map(
    by.ask("GET", `/api/v2/search?resolve=true&type=statuses&q=${encodeURIComponent(uri)}`),
    ({ statuses: [found] }) => found
  )

/** Uploads a picture of a user with a description and a focal point. */
const picture = (by: TestUser, origin: string) =>
  Effect.promise(async () => {
    const bytes = await sharp({ create: { width: 80, height: 60, channels: 3, background: "#357" } }).png().toBuffer()
    const body = new FormData()
    body.set("file", new Blob([new Uint8Array(bytes)]), "sea.png")
    body.set("description", "The sea")
    body.set("focus", "0.5,-0.25")
    const headers = { authorization: `Bearer ${by.token}` }
    const response = await fetch(`${origin}/api/v1/media`, { method: "POST", headers, body })
    return await response.json() as { readonly id: string }
  })

it.live(
  "S-009, S-012: three servers show the same post, with its files, text and warnings",
  () =>
    Effect.gen(function*() {
      const { anna, ben, cleo, done, instances } = yield* three
      yield* ben.follow(anna)
      yield* cleo.follow(anna)
      yield* done
      const { id: mediaId } = yield* picture(anna, instances[0]!.origin)
      const post = yield* anna.post(`Look @${ben.handle} #Sea https://example.org/a?b=c&d`, {
        media_ids: [mediaId],
        spoiler_text: "water",
        language: "de"
      })
      yield* done
      for (const reader of [ben, cleo]) {
        const [seen] = yield* reader.home
        assert.deepInclude(seen, {
          uri: post.uri,
          spoiler_text: "water",
          sensitive: true,
          language: "de",
          visibility: "public"
        })
        assert.strictEqual(seen.account.acct, anna.handle)
        assert.deepStrictEqual(seen.tags.map(({ name }: { name: string }) => name.toLowerCase()), ["sea"])
        // The third server fetches mentioned accounts that it does not know.
        const mentions: ReadonlyArray<{ acct: string }> = (yield* eventually(
          reader.ask("GET", `/api/v1/statuses/${seen.id}`),
          (shown) => shown.mentions.length > 0
        )).mentions
        assert.deepStrictEqual(mentions.map(({ acct }) => acct), [reader === ben ? "ben" : ben.handle])
        const [file] = seen.media_attachments
        assert.deepInclude(file, {
          type: "image",
          description: "The sea",
          blurhash: post.media_attachments[0].blurhash
        })
        assert.deepStrictEqual(file.meta.focus, { x: 0.5, y: -0.25 })
        const bytes = yield* Effect.promise(async () => (await fetch(file.url)).arrayBuffer())
        const { height, width } = yield* Effect.promise(() => sharp(bytes).metadata())
        assert.deepStrictEqual([width, height], [80, 60])
      }
      assert.deepStrictEqual(yield* ben.notifications, ["mention anna"])
    }).pipe(Effect.scoped)
)

it.live(
  "rows 1, 9: a boosted post of an unknown author is fetched from its own server",
  () =>
    Effect.gen(function*() {
      const { anna, ben, cleo, done, instances } = yield* three
      yield* ben.follow(anna)
      yield* cleo.follow(ben)
      yield* done
      const post = yield* anna.post("worth sharing")
      yield* done
      const seen = yield* shown(ben, post.uri)
      yield* ben.ask("POST", `/api/v1/statuses/${seen.id}/reblog`)
      const [boost] = yield* eventually(cleo.home, (all) => all.length === 1)
      assert.deepInclude(boost.reblog, { uri: post.uri, content: "<p>worth sharing</p>" })
      assert.strictEqual(boost.reblog.account.acct, anna.handle)
      yield* done
      assert.strictEqual((yield* anna.ask("GET", `/api/v1/statuses/${post.id}`)).reblogs_count, 1)
      assert.deepStrictEqual([...yield* anna.notifications].toSorted(), ["follow ben", "reblog ben"])
      for (const instance of instances) assert.deepStrictEqual([...new Set(yield* outcomes(instance))], ["done"])
    }).pipe(Effect.scoped)
)

it.live("I10: a server that has a post only through a boost gets its edit and deletion", () =>
  Effect.gen(function*() {
    const { anna, ben, cleo, done } = yield* three
    yield* ben.follow(anna)
    yield* cleo.follow(ben)
    yield* done
    const post = yield* anna.post("soon another")
    yield* done
    const seen = yield* shown(ben, post.uri)
    yield* ben.ask("POST", `/api/v1/statuses/${seen.id}/reblog`)
    const [boost] = yield* eventually(cleo.home, (all) => all.length === 1)
    yield* done
    yield* anna.ask("PUT", `/api/v1/statuses/${post.id}`, { status: "another now" })
    yield* done
    const read = cleo.ask("GET", `/api/v1/statuses/${boost.reblog.id}`)
    assert.strictEqual((yield* read).content, "<p>another now</p>")
    yield* anna.ask("DELETE", `/api/v1/statuses/${post.id}`)
    yield* done
    assert.deepStrictEqual(yield* cleo.home, [])
    assert.isTrue(Exit.isFailure(yield* Effect.exit(read)))
  }).pipe(Effect.scoped), 120_000)

it.live("S-196: opening a remote post shows the conversation around it", () =>
  Effect.gen(function*() {
    const { anna, ben, cleo, done } = yield* three
    const first = yield* anna.post("the first word")
    const copy = yield* shown(ben, first.uri)
    const second = yield* ben.post(`@${anna.handle} the second`, { in_reply_to_id: copy.id })
    yield* done
    const responded = yield* anna.ask("GET", `/api/v1/statuses/${first.id}/context`)
    const third = yield* anna.post(`@${ben.handle} the third`, { in_reply_to_id: responded.descendants[0].id })
    yield* done
    // Cleo's server knows none of the accounts: it gets the last post, and fetches the earlier ones.
    const { id } = yield* shown(cleo, third.uri)
    const { ancestors } = yield* eventually(
      cleo.ask("GET", `/api/v1/statuses/${id}/context`),
      (context: { ancestors: ReadonlyArray<{ uri: string }> }) => context.ancestors.length === 2
    )
    assert.deepStrictEqual(ancestors.map(({ uri }: { uri: string }) => uri), [first.uri, second.uri])
  }).pipe(Effect.scoped), 120_000)

it.live("S-013, row 19, I20: people on three servers vote in one poll, once each", () =>
  Effect.gen(function*() {
    const { anna, ben, cleo, done } = yield* three
    yield* ben.follow(anna)
    yield* cleo.follow(anna)
    yield* done
    const post = yield* anna.post("Which?", {
      poll: { options: ["Tea", "Coffee", "Water"], expires_in: 3600, multiple: true }
    })
    yield* done
    for (const [voter, choices] of [[ben, ["0", "2"]], [cleo, ["0"]]] as const) {
      const [seen] = yield* voter.home
      assert.deepStrictEqual(seen.poll.options.map(({ title }: { title: string }) => title), ["Tea", "Coffee", "Water"])
      assert.strictEqual(seen.poll.multiple, true)
      const voted = yield* voter.ask("POST", `/api/v1/polls/${seen.poll.id}/votes`, { choices })
      assert.deepStrictEqual(voted.own_votes, choices.map(Number))
    }
    yield* done
    const { poll } = yield* anna.ask("GET", `/api/v1/statuses/${post.id}`)
    assert.deepStrictEqual(poll.options.map(({ votes_count }: { votes_count: number }) => votes_count), [2, 0, 1])
    assert.deepInclude(poll, { votes_count: 3, voters_count: 2 })
  }).pipe(Effect.scoped), 120_000)
