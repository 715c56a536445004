import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import sharp from "sharp"
import { PreviewCard } from "../../../src/http/wire/PreviewCard.ts"
import { eventually } from "../../support/Eventually.ts"
import { settled, type TestInstance, type TestUser } from "../../support/Fediverse.ts"
import { hurried, idle, type Json, name, page, shown, statusOf, World, world } from "./CardSites.ts"

const decodeCard = Schema.decodeUnknownEffect(PreviewCard)

/** Collects further events of a user's stream. */
const listening = ({ origin }: TestInstance, { token }: TestUser, stream: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly socket: WebSocket; readonly events: Array<Json> }>((resume) => {
      const events: Array<Json> = []
      const socket = new WebSocket(
        `${origin.replace("http", "ws")}/api/v1/streaming?stream=${stream}&access_token=${token}`
      )
      socket.addEventListener("message", ({ data }) => events.push(JSON.parse(String(data))))
      socket.addEventListener("open", () => resume(Effect.succeed({ socket, events })))
    }),
    ({ socket }) => Effect.sync(() => socket.close())
  )

layer(world, { excludeTestServices: true })("PreviewCard", (it) => {
  it.effect("a post does not wait for its card; status.update brings the card and its picture, and is not an edit", () =>
    Effect.gen(function*() {
      const { here, site } = yield* World
      const [anna, ben] = [yield* here.person(name("anna")), yield* here.person(name("ben"))]
      yield* ben.follow(anna)
      const picture = yield* Effect.promise(() =>
        sharp({ create: { width: 1600, height: 800, channels: 3, background: "#3366cc" } }).png().toBuffer()
      )
      site.pages.set("/a.png", (_, response) => response.writeHead(200, { "content-type": "image/png" }).end(picture))
      let open = () => {}
      site.pages.set("/story", (request, response) => {
        open = () =>
          page(
            "A story",
            `<meta property="og:description" content="What happened"><meta property="og:image" content="/a.png">
             <meta property="og:image:alt" content="Blue"><meta property="og:site_name" content="Site">`
          )(request, response)
      })
      const stream = yield* listening(here, ben, "user")
      const open_ = yield* listening(here, ben, "public:local")
      const link = `${site.url}/story#part`
      const status = yield* anna.post(`Read ${link} and ${site.url}/other`)
      assert.isNull(status.card)
      yield* eventually(Effect.sync(() => site.asked("/story").length), (times) => times === 1)
      assert.isNull((yield* statusOf(anna, status.id)).card)
      open()
      const card = yield* decodeCard(yield* shown(anna, status.id))
      assert.deepInclude(card, {
        url: link,
        title: "A story",
        description: "What happened",
        language: "en",
        type: "link",
        provider_name: "Site",
        author_name: "",
        authors: [],
        html: "",
        embed_url: "",
        image_description: "Blue",
        width: 679,
        height: 339,
        published_at: null,
        missing_attribution: false
      })
      assert.match(card.blurhash ?? "", /^[\x21-\x7e]{6,}$/)
      assert.isTrue(card.image?.startsWith(`${here.origin}/system/`))
      const file = yield* Effect.promise(() => fetch(card.image ?? ""))
      assert.deepStrictEqual([file.status, file.headers.get("content-type")], [200, "image/png"])

      for (const { events } of [stream, open_]) {
        const update = yield* eventually(
          Effect.sync(() => events.find(({ event }) => event === "status.update")),
          (found) => found !== undefined
        )
        const told = JSON.parse(update.payload)
        assert.deepInclude(told, { id: status.id, edited_at: null })
        assert.strictEqual(told.card.title, "A story")
      }
      assert.deepStrictEqual(yield* ben.notifications, [])
      assert.strictEqual(site.asked("/other").length, 0)
      // Visitors get the same card, without the owner's fields.
      const response = yield* here.fetch(`/api/v1/statuses/${status.id}`)
      const open__: Json = yield* Effect.promise(() => response.json())
      assert.notProperty(open__.card, "missing_attribution")
      assert.notProperty(site.asked("/story")[0]?.headers, "signature")
    }).pipe(Effect.scoped))

  it.effect("a page is fetched once for all its links, on both servers; remote posts have cards, too", () =>
    Effect.gen(function*() {
      const { here, site, there } = yield* World
      const [anna, zoe] = [yield* here.person(name("anna")), yield* there.person(name("zoe"))]
      yield* zoe.follow(anna)
      yield* settled([here, there])
      site.pages.set("/shared", page("Shared"))
      const link = `${site.url}/shared`
      const statuses = yield* Effect.forEach(
        Array.from({ length: 5 }, (_, at) => `${link}#${at}`),
        (address) => anna.post(`see ${address}`),
        { concurrency: 5 }
      )
      for (const { id } of statuses) assert.strictEqual((yield* shown(anna, id)).title, "Shared")
      assert.strictEqual(site.asked("/shared").length, 1)
      yield* settled([here, there])
      yield* hurried(there)
      const copies: ReadonlyArray<Json> = yield* eventually(
        zoe.home,
        (all) => all.filter(({ card }) => card?.title === "Shared").length === 5
      )
      assert.deepStrictEqual(copies.map(({ card }) => card.url).toSorted(), statuses.map((_, at) => `${link}#${at}`))
      assert.strictEqual(site.asked("/shared").length, 2)
      // The note says which of its links has the card.
      const note: Json = yield* Effect.promise(async () =>
        (await fetch(statuses[0]?.uri, { headers: { accept: "application/activity+json" } })).json()
      )
      assert.deepStrictEqual(note.attachment, [{ type: "Link", href: `${link}#0` }])
    }).pipe(Effect.scoped))

  it.effect("only external links count, and none if there are attachments; an edit replaces or removes the card", () =>
    Effect.gen(function*() {
      const { here, site, there } = yield* World
      const [anna, zoe] = [yield* here.person(name("anna")), yield* there.person(name("zoe"))]
      for (const path of ["/one", "/two"]) site.pages.set(path, page(path))
      const plain = yield* anna.post(`@${zoe.handle} #tag ${here.origin}/@${anna.username} no link`)
      const status = yield* anna.post(`${here.origin}/about ${site.url}/one ${site.url}/two`)
      assert.strictEqual((yield* shown(anna, status.id)).title, "/one")
      yield* anna.ask("PUT", `/api/v1/statuses/${status.id}`, { status: `now ${site.url}/two` })
      assert.strictEqual(
        (yield* eventually(statusOf(anna, status.id), ({ card }) => card?.title === "/two")).card.url,
        `${site.url}/two`
      )
      yield* anna.ask("PUT", `/api/v1/statuses/${status.id}`, { status: "now nothing" })
      assert.isNull((yield* statusOf(anna, status.id)).card)
      yield* idle(here)
      assert.isNull((yield* statusOf(anna, plain.id)).card)
      const rows = yield* here.sql`SELECT FROM status_cards WHERE status_id = ${BigInt(plain.id)}`
      assert.lengthOf(rows, 0)
      // Files are shown instead of a card, also if an edit adds them.
      const form = new FormData()
      const pixels = yield* Effect.promise(() =>
        sharp({ create: { width: 8, height: 8, channels: 3, background: "#fff" } }).png().toBuffer()
      )
      form.append("file", new Blob([new Uint8Array(pixels)], { type: "image/png" }), "a.png")
      const uploaded = yield* here.fetch("/api/v2/media", { method: "POST", token: anna.token, body: form })
      const media: Json = yield* Effect.promise(() => uploaded.json())
      const again = yield* anna.post(`once more ${site.url}/one`)
      assert.strictEqual((yield* shown(anna, again.id)).title, "/one")
      const edited = yield* anna.ask("PUT", `/api/v1/statuses/${again.id}`, {
        status: `once more ${site.url}/one`,
        media_ids: [media.id]
      })
      assert.deepStrictEqual([edited.card, edited.media_attachments.length], [null, 1])
    }).pipe(Effect.scoped))

  it.effect("fediverse:creator: the author is shown if the account allows the page's domain", () =>
    Effect.gen(function*() {
      const { here, site, there } = yield* World
      const [anna, writer] = [yield* here.person(name("anna")), yield* here.person(name("writer"))]
      const zoe = yield* there.person(name("zoe"))
      const creator = (handle: string) => `<meta name="fediverse:creator" content="${handle}">`
      site.pages.set(
        "/article",
        page("An article", `${creator(`@${writer.handle}`)}<meta name="author" content="W. Riter">`)
      )
      site.pages.set("/foreign", page("From elsewhere", creator(zoe.handle)))
      site.pages.set("/nobody", page("Nobody's", creator(`nobody@${there.domain}`)))
      const status = yield* anna.post(`${site.url}/article`)
      const before = yield* shown(writer, status.id)
      assert.deepStrictEqual(before.authors, [{ name: "W. Riter", url: "", account: null }])
      assert.isTrue(before.missing_attribution)
      assert.isFalse((yield* statusOf(anna, status.id)).card.missing_attribution)
      yield* writer.ask("PATCH", "/api/v1/accounts/update_credentials", {
        attribution_domains: ["other.example"]
      })
      const after = (yield* statusOf(anna, status.id)).card
      assert.deepStrictEqual(after.authors, [{ name: "W. Riter", url: "", account: null }])
      yield* writer.ask("PATCH", "/api/v1/accounts/update_credentials", { attribution_domains: ["127.0.0.1"] })
      const attributed = (yield* statusOf(writer, status.id)).card
      assert.isFalse(attributed.missing_attribution)
      assert.strictEqual(attributed.authors[0].account.id, String(writer.accountId))
      assert.strictEqual(attributed.author_name, "W. Riter")

      yield* zoe.ask("PATCH", "/api/v1/accounts/update_credentials", { attribution_domains: ["127.0.0.1"] })
      const foreign = yield* shown(anna, (yield* anna.post(`${site.url}/foreign`)).id)
      assert.strictEqual(foreign.authors[0].account.acct, zoe.handle)
      const nobody = yield* shown(anna, (yield* anna.post(`${site.url}/nobody`)).id)
      assert.deepStrictEqual([nobody.title, nobody.authors], ["Nobody's", []])
    }).pipe(Effect.scoped))
})
