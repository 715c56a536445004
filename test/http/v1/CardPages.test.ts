import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../support/Eventually.ts"
import { startInstance } from "../../support/Fediverse.ts"
import { html, hurried, idle, machine, name, page, shown, statusOf, World, world } from "./CardSites.ts"

layer(world, { excludeTestServices: true })("pages behind links", (it) => {
  it.effect("temporary failures are retried, non-pages are not; a page without metadata is fetched again a day later", () =>
    Effect.gen(function*() {
      const { here, site } = yield* World
      const anna = yield* here.person(name("anna"))
      let times = 0
      site.pages.set(
        "/flaky",
        (request, response) =>
          ++times === 1 ? response.writeHead(503, { "retry-after": "7200" }).end() : page("At last")(request, response)
      )
      site.pages.set(
        "/file.pdf",
        (_, response) => response.writeHead(200, { "content-type": "application/pdf" }).end("x")
      )
      site.pages.set("/blank", html("<p>nothing"))
      site.pages.set("/loop", (_, response) => response.writeHead(302, { location: "/loop" }).end())
      site.pages.set("/home", (_, response) => response.writeHead(302, { location: `${here.origin}/about` }).end())
      site.pages.set(
        "/packed",
        (_, response) =>
          response.writeHead(200, { "content-type": "text/html", "content-encoding": "gzip" }).end("no gzip")
      )
      const paths = ["/flaky", "/file.pdf", "/blank", "/loop", "/home", "/packed", "/missing"]
      const statuses = yield* Effect.forEach(paths, (path) => anna.post(`${site.url}${path}`))
      const ids = () =>
        here.sql<{ url: string; dueAt: Date | null; tries: number }>`
        SELECT url, due_at, tries FROM preview_cards WHERE url LIKE ${`${site.url}/%`} ORDER BY url`
      const rows = yield* eventually(
        Effect.orDie(ids()),
        (all) =>
          all.every(({ dueAt, tries, url }) => url.endsWith("/flaky") ? tries === 1 && dueAt !== null : dueAt === null)
      )
      const flaky = rows.find(({ url }) => url.endsWith("/flaky"))
      yield* eventually(
        Effect.orDie(ids()),
        (all) =>
          all.some(({ dueAt, url }) => url.endsWith("/flaky") && (dueAt?.getTime() ?? 0) > Date.now() + 3_600_000)
      )
      assert.isDefined(flaky)
      yield* hurried(here)
      assert.strictEqual((yield* shown(anna, statuses[0].id)).title, "At last")
      for (const { id } of statuses.slice(1)) assert.isNull((yield* statusOf(anna, id)).card)

      // A new link a day later fetches it again, and it now has metadata.
      site.pages.set("/blank", page("No more"))
      yield* anna.post(`again ${site.url}/blank`)
      yield* idle(here)
      assert.isNull((yield* statusOf(anna, statuses[2].id)).card)
      yield* here.sql`UPDATE preview_cards SET fetched_at = ${new Date(
        Date.now() - 86_500_000
      )} WHERE url = ${`${site.url}/blank`}`
      yield* anna.post(`and again ${site.url}/blank`)
      assert.strictEqual((yield* shown(anna, statuses[2].id)).title, "No more")

      // After two weeks it is fetched again, and the new card is shown everywhere.
      site.pages.set("/blank", page("Renewed"))
      yield* here.sql`UPDATE preview_cards SET fetched_at = ${new Date(Date.now() - 15 * 86_400_000)}
        WHERE url = ${`${site.url}/blank`}`
      yield* anna.post(`once more ${site.url}/blank`)
      yield* eventually(statusOf(anna, statuses[2].id), ({ card }) => card.title === "Renewed")
    }).pipe(Effect.scoped))

  it.effect("row 25: no private address is requested, also through a page, its picture or its oEmbed; a long page is cut", () =>
    Effect.gen(function*() {
      const { site } = yield* World
      const guarded = yield* startInstance({ OUTBOUND_ALLOW: "127.0.0.1/32" })
      const anna = yield* guarded.person(name("anna"))
      const inside = yield* machine(
        "127.0.0.2",
        (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<title>secret")
      )
      const secret = inside.url
      site.pages.set("/redirects", (_, response) => response.writeHead(302, { location: secret }).end())
      site.pages.set(
        "/names",
        page(
          "Names",
          `<meta property="og:image" content="${secret}/a.png">
           <link rel="alternate" type="application/json+oembed" href="${secret}/oembed">`
        )
      )
      site.pages.set("/long", (_, response) => {
        response.writeHead(200, { "content-type": "text/html" })
        // An endless page.
        response.write(`<title>Long</title>${" ".repeat(4_194_304)}`)
      })
      const [direct, redirected, names, long] = yield* Effect.forEach(
        [secret, `${site.url}/redirects`, `${site.url}/names`, `${site.url}/long`],
        (link) => anna.post(`see ${link}`)
      )
      assert.strictEqual((yield* shown(anna, names.id)).title, "Names")
      assert.isNull((yield* shown(anna, names.id)).image)
      assert.strictEqual((yield* shown(anna, long.id)).title, "Long")
      yield* idle(guarded)
      for (const { id } of [direct, redirected]) assert.isNull((yield* statusOf(anna, id)).card)
      assert.lengthOf(inside.requests, 0)
    }).pipe(Effect.scoped))

  it.effect("at most a hundred pages of one site wait, without delaying those of other sites", () =>
    Effect.gen(function*() {
      const { here, site } = yield* World
      const anna = yield* here.person(name("anna"))
      const other = yield* machine("127.0.0.3", (request, response) => page("Other")(request, response))
      let [open, most] = [0, 0]
      const held: Array<() => void> = []
      site.pages.set("/slow", (request, response) => {
        open++
        most = Math.max(most, open)
        held.push(() => {
          open--
          page("Slow")(request, response)
        })
      })
      const slow = yield* Effect.forEach(
        Array.from({ length: 6 }, (_, at) => `${site.url}/slow?${at}`),
        (link) => anna.post(link)
      )
      const elsewhere = yield* anna.post(`${other.url}/`)
      assert.strictEqual((yield* shown(anna, elsewhere.id)).title, "Other")
      yield* eventually(Effect.sync(() => held.length), (length) => length > 0)
      assert.isAtMost(most, 2)
      yield* eventually(
        Effect.andThen(
          Effect.sync(() => held.splice(0).forEach((reply) => reply())),
          Effect.forEach(slow, ({ id }) => statusOf(anna, id))
        ),
        (all) => all.every(({ card }) => card !== null)
      )
      assert.isAtMost(most, 2)
      // Exceeds the maximum of waiting pages by one.
      yield* here.sql`INSERT INTO preview_cards (id, url_key, url, site, due_at, created_at)
        SELECT n, n, n, '127.0.0.1', ${new Date(Date.now() + 3_600_000)}, ${new Date()} FROM generate_series(1, 100) n`
      yield* anna.post(`${site.url}/slow?beyond`)
      const [row] = yield* here.sql<{ dueAt: Date | null }>`SELECT due_at FROM preview_cards WHERE url LIKE '%beyond'`
      assert.isNull(row?.dueAt)
      yield* here.sql`DELETE FROM preview_cards WHERE id <= 100`
    }).pipe(Effect.scoped))
})
