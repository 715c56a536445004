import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { fileURLToPath, pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { documents } from "../support/documents.ts"
import { TestServer } from "../support/Server.ts"
import { Browser, visit } from "./Browser.ts"
import { findingsAtEveryWidth, pictureName } from "./EveryWidth.ts"

const run = promisify(execFile)
const root = fileURLToPath(new URL("../..", import.meta.url))

/** Builds a static site of all documents with the program. */
const site = Effect.acquireRelease(
  Effect.promise(async () => {
    const folder = mkdtempSync(`${tmpdir()}/murmuration-site-`)
    const { stdout } = await run(process.execPath, ["src/docs.ts", folder], { cwd: root })
    assert.strictEqual(stdout, `Wrote ${documents.size + 1} files to ${folder}.\n`)
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "the guides in a browser",
  (it) => {
    it.effect(
      "have no Axe findings at three widths in light and dark, on the server and as a static site",
      () =>
        Effect.scoped(Effect.gen(function*() {
          const { baseUrl } = yield* TestServer
          const pages = pathToFileURL(yield* site).href
          const { page } = yield* visit()
          yield* Effect.promise(async () => {
            const found: Array<string> = []
            const addresses = [
              `${baseUrl}/docs`,
              `${baseUrl}/docs/guide/troubleshooting`,
              `${baseUrl}/docs/settings`,
              `${pages}/index.html`,
              `${pages}/guide/troubleshooting.html`
            ]
            for (const address of addresses) {
              await page.goto(address)
              const name = `manual${
                pictureName(new URL(address).pathname.replace(/^.*murmuration-site-[^/]*/, "/site"))
              }`
              found.push(...await findingsAtEveryWidth(page, address, name))
            }
            assert.deepStrictEqual(found, [])
          })
        }))
    )

    it.effect("lead from page to page, and to a heading", () =>
      Effect.scoped(Effect.gen(function*() {
        const { baseUrl } = yield* TestServer
        const pages = pathToFileURL(yield* site).href
        const { page } = yield* visit()
        yield* Effect.promise(async () => {
          for (const first of [`${baseUrl}/docs`, `${pages}/index.html`]) {
            await page.goto(first)
            await page.getByRole("main").getByRole("link", { name: "Troubleshooting" }).first().click()
            await page.getByRole("heading", { level: 1, name: "Troubleshooting" }).waitFor()
            await page.getByRole("link", { name: "The disk is full" }).first().click()
            assert.strictEqual(new URL(page.url()).hash, "#the-disk-is-full")
            assert.isTrue(await page.getByRole("heading", { name: "The disk is full" }).isVisible())
            await page.getByRole("link", { name: "a bucket" }).click()
            await page.getByRole("heading", { level: 1, name: "Storage" }).waitFor()
          }
        })
      })))
  }
)
