import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { zipSync } from "fflate"
import { readFileSync } from "node:fs"
import type { Page } from "playwright-core"
import { ask } from "../support/Api.ts"
import { picture as drawn } from "../support/MediaFiles.ts"
import { TestServer } from "../support/Server.ts"
import { axeFinds } from "./Axe.ts"
import { Browser, picture } from "./Browser.ts"
import { press, signIn } from "./Visits.ts"

const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const everybody = "https://www.w3.org/ns/activitystreams#Public"

/** An archive in the form of Mastodon: a post with a picture and a content warning, and a reply to it. */
const mastodonArchive = (actor: string, image: Uint8Array) => {
  const note = (number: number, published: string, more: Readonly<Record<string, unknown>>) => ({
    id: `${actor}/statuses/${number}`,
    type: "Note",
    attributedTo: actor,
    published,
    to: [everybody],
    cc: [`${actor}/followers`],
    ...more
  })
  const notes = [
    note(1, "2018-05-06T07:08:09Z", {
      content: "<p>A lake, long ago</p>",
      summary: "Water",
      sensitive: true,
      attachment: [{
        type: "Document",
        mediaType: "image/png",
        url: "/media_attachments/files/1/a.png",
        name: "A lake"
      }]
    }),
    note(2, "2018-05-06T09:00:00Z", {
      content: "<p>It was cold</p>",
      summary: null,
      inReplyTo: `${actor}/statuses/1`,
      attachment: []
    })
  ]
  const creates = notes.map((object) => ({
    id: `${object.id}/activity`,
    type: "Create",
    actor,
    published: object.published,
    to: object.to,
    cc: object.cc,
    object
  }))
  return zipSync({
    "actor.json": text({
      id: actor,
      type: "Person",
      preferredUsername: "ada",
      outbox: "outbox.json",
      likes: "likes.json"
    }),
    "likes.json": text({ id: "likes.json", type: "OrderedCollection", orderedItems: [] }),
    "bookmarks.json": text({ id: "bookmarks.json", type: "OrderedCollection", orderedItems: [] }),
    "media_attachments/files/1/a.png": image,
    "outbox.json": text({ id: "outbox.json", type: "OrderedCollection", totalItems: 2, orderedItems: creates })
  })
}

/** Looks at the page as others do: it fits at both widths, passes Axe, and has its picture taken. */
const look = async (page: Page, name: string) => {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 })
    assert.isFalse(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), `${name} at ${width} px`)
    await picture(page, `${name}-${width}`)
  }
  assert.deepStrictEqual(await axeFinds(page), [], name)
  await page.setViewportSize({ width: 1280, height: 844 })
}

/** Follows the link to the current state until the page says `state`, or has a plan. */
const awaitState = async (page: Page, state: RegExp) => {
  for (;;) {
    if (await page.getByRole("button", { name: "Start import" }).count() > 0) return
    if (state.test(await page.getByRole("status").last().textContent() ?? "")) return
    await page.getByRole("link", { name: "Show the current state" }).click()
    await page.waitForLoadState()
  }
}

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "imports by a member, in a browser",
  (it) => {
    const desk = Effect.fnUntraced(function*(javaScriptEnabled: boolean) {
      const chromium = yield* Browser
      const context = yield* Effect.acquireRelease(
        Effect.promise(() =>
          chromium.newContext({ javaScriptEnabled, viewport: { width: 1280, height: 844 }, acceptDownloads: true })
        ),
        (context) => Effect.promise(() => context.close())
      )
      return yield* Effect.promise(() => context.newPage())
    })

    for (const scripts of [true, false]) {
      const way = scripts ? "with scripts" : "without scripts"
      const at = (name: string) => scripts ? name : `${name}-plain`
      // Axe is a script itself.
      const see = (page: Page, name: string) => scripts ? look(page, name) : picture(page, at(name))

      it.effect(`a list of follows is previewed, imported, and its failed lines downloaded, ${way}`, () =>
        Effect.gen(function*() {
          const { baseUrl, createPerson } = yield* TestServer
          const suffix = scripts ? "" : "2"
          const [ada, bob] = [yield* createPerson(`ada${suffix}`), yield* createPerson(`bob${suffix}`)]
          const host = new URL(baseUrl).host
          const csv = [
            "Account address,Show boosts,Notify on new posts,Languages",
            `${bob.username}@${host},false,true,en`,
            `nobody.here@${host},true,false,`,
            "not an address,true,false,",
            `${ada.username}@${host},true,false,`
          ].join("\n")
          const page = yield* desk(scripts)
          const failures = yield* Effect.promise(async () => {
            await page.goto(`${baseUrl}/settings/imports`)
            await signIn(page, ada)
            await see(page, "imports-form")
            const file = { name: "following_accounts.csv", mimeType: "text/csv", buffer: Buffer.from(csv) }
            await page.locator("input[type=file]").setInputFiles(file)
            await press(page, "Preview import")
            await page.getByText("Nothing has changed yet.").waitFor()
            await page.getByText(`${bob.username}@${host}`).first().waitFor()
            await page.getByText("1 entry is added.").waitFor()
            await page.getByText("3 lines cannot be imported.").waitFor()
            await page.getByText(`nobody.here@${host}: Not found`).waitFor()
            await see(page, "imports-preview")
            await press(page, "Start import")
            await awaitState(page, /^Finished/)
            assert.match(await page.getByRole("status").last().textContent() ?? "", /4 of 4 lines, 3 failed · 1 added/)
            await see(page, "imports-finished")
            const [download] = await Promise.all([
              page.waitForEvent("download"),
              page.getByRole("link", { name: "Download all lines that failed" }).click()
            ])
            assert.strictEqual(download.suggestedFilename(), "follows_failures.csv")
            const saved = readFileSync(await download.path(), "utf8")
            await page.getByRole("link", { name: "Import and export" }).last().click()
            await page.getByText("following_accounts.csv").last().waitFor()
            await see(page, "imports-recent")
            return saved
          })
          assert.deepStrictEqual(
            failures.trim().split("\r\n").slice(1).map((line) => line.split(",").at(-1)),
            [
              "invalid",
              "not_found",
              "not_allowed"
            ].toSorted((a, b) => failures.indexOf(a) - failures.indexOf(b))
          )
          const { body: [relationship] } = yield* ask(
            ada,
            "GET",
            `/api/v1/accounts/relationships?id=${bob.accountId}`
          )
          assert.deepInclude(relationship, { following: true, showing_reblogs: false, notifying: true })
        }))

      it.effect(`an archive of Mastodon becomes dated posts on the profile, and is undone, ${way}`, () =>
        Effect.gen(function*() {
          const { baseUrl, createPerson } = yield* TestServer
          const sql = yield* SqlClient.SqlClient
          const eve = yield* createPerson(scripts ? "eve" : "eve2")
          const actor = `https://old.example/users/${eve.username}`
          const image = yield* Effect.promise(() => drawn(640, 360).png().toBuffer())
          const file = {
            name: "archive-20240506.zip",
            mimeType: "application/zip",
            buffer: Buffer.from(mastodonArchive(actor, new Uint8Array(image)))
          }
          const page = yield* desk(scripts)
          const upload = async () => {
            await page.goto(`${baseUrl}/settings/archives`)
            await page.locator("input[type=file]").setInputFiles(file)
            await press(page, "Preview import")
            await awaitState(page, /^Failed/)
          }
          yield* Effect.promise(async () => {
            await page.goto(`${baseUrl}/settings/archives`)
            await signIn(page, eve)
            await see(page, "archives-form")
            await upload()
            await page.getByText("The archive is of another account.").waitFor()
            await see(page, "archives-refused")
          })
          yield* sql`UPDATE accounts SET also_known_as = ARRAY[${actor}] WHERE id = ${eve.accountId}`
          yield* Effect.promise(async () => {
            await upload()
            await page.getByText("2 posts are added.").waitFor()
            await page.getByText("1 file is added.").waitFor()
            await see(page, "archives-plan")
            await press(page, "Start import")
            await awaitState(page, /^Finished/)
            await see(page, "archives-finished")
            const importPage = page.url()
            await page.goto(`${baseUrl}/@${eve.username}`)
            await page.getByText("Water").first().waitFor()
            const published = page.getByRole("article").filter({ hasText: "Water" }).locator("time").first()
            assert.match(await published.getAttribute("datetime") ?? "", /^2018-05-06T07:08:09/)
            await see(page, "archives-profile")
            await page.goto(importPage)
            await press(page, "Delete all imported posts")
            await awaitState(page, /^Finished/)
            await see(page, "archives-undone")
            await page.goto(`${baseUrl}/@${eve.username}`)
            assert.strictEqual(await page.getByText("Water").count(), 0)
          })
        }))
    }

    it.effect("pages of a move show who came and who did not", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const sql = yield* SqlClient.SqlClient
        const [old, fresh] = [yield* createPerson("olga"), yield* createPerson("olganew")]
        const [came, stayed] = [yield* createPerson("cora"), yield* createPerson("stan")]
        for (const one of [came, stayed]) yield* ask(one, "POST", `/api/v1/accounts/${old.accountId}/follow`, {})
        yield* ask(fresh, "POST", `/api/v1/accounts/${stayed.accountId}/block`, {})
        yield* sql`UPDATE accounts SET also_known_as = ARRAY[${`${baseUrl}/users/olga`}] WHERE id = ${fresh.accountId}`
        const page = yield* desk(true)
        yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/settings/migration`)
          await signIn(page, old)
          await page.getByLabel(/Handle of the other account/).fill("olganew")
          await page.getByLabel(/password/i).fill(old.password)
          await press(page, "Move followers")
          while (await page.getByText("Followers who came: 1").count() === 0) await page.reload()
          await look(page, "move")
          await page.getByRole("link", { name: "Followers who did not come" }).click()
          await page.getByText("@stan").waitFor()
          await look(page, "move-followers")
          const [download] = await Promise.all([
            page.waitForEvent("download"),
            page.getByRole("link", { name: /^Download/ }).click()
          ])
          assert.include(readFileSync(await download.path(), "utf8"), "stan@")
        })
      }))
  }
)
