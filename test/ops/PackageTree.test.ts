import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer } from "effect"
import sharp from "sharp"
import { form } from "../support/MediaFiles.ts"
import { freePort } from "../support/ports.ts"
import { printed } from "../support/Program.ts"
import { packageTree, startIn } from "./PackageTree.ts"

/** Maximum size of the tree, in bytes: four fifths are Node and Postgres. */
const bytesMax = 230_000_000

/** Texts that have to be distributed; the README of libvips lists the licences of its libraries. */
const isLicence = (path: string) =>
  /\/(?:licen[cs]e|copying|notice|third-party)[^/]*$/i.test(path) || /\/sharp-libvips-[^/]+\/README\.md$/.test(path)

class Tree extends Context.Service<Tree, Effect.Success<typeof packageTree>>()("murmuration/test/ops/Tree") {
  static readonly layer = Layer.effect(Tree, packageTree).pipe(Layer.provideMerge(NodeServices.layer))
}

layer(Tree.layer, { excludeTestServices: true })("the file tree of a package", (it) => {
  it.effect("has no development packages, tests, types, source maps or documentation, and its size is bounded", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { folder, report } = yield* Tree
      const files = yield* fs.readDirectory(folder, { recursive: true })
      const modules = files.filter((path) => path.startsWith("node_modules/"))
      assert.deepStrictEqual(
        modules.filter((path) =>
          /\.(?:map|d\.[cm]?ts|md|markdown|a)$|\/(?:tests?|docs|examples?)\//.test(path) && !isLicence(path)
        ),
        []
      )
      for (const name of ["vitest", "typescript", "oxlint", "playwright-core", "@types"]) {
        assert.isFalse(files.includes(`node_modules/${name}`), name)
      }
      assert.isFalse(files.some((path) => path.startsWith("test/") || path.endsWith(".test.ts")))
      // Licences of the packages must be distributed with them.
      assert.include(files, "LICENSE")
      assert.include(files, "node_modules/effect/LICENSE")
      const together = Number(/([\d.]+) MB {2}together/.exec(report)?.[1]) * 1e6
      assert.isAbove(together, 0)
      assert.isBelow(together, bytesMax)
    }))

  it.effect(
    "F269: serves with its own Node and Postgres, names its command, creates an account with it and accepts a picture",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const { folder } = yield* Tree
        const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-tree-data-" })
        yield* fs.chmod(dataDir, 0o755)
        const port = yield* freePort
        const variables = { PORT: String(port), DATA_DIR: dataDir, MURMURATION_COMMAND: "murmuration" }
        const server = yield* startIn(folder, ["src/main.ts"], variables)
        yield* printed(server, "Murmuration is at")
        yield* printed(server, "Or:  murmuration account create NAME")

        const cli = (...args: ReadonlyArray<string>) =>
          Effect.scoped(
            Effect.flatMap(startIn(folder, ["src/cli.ts", ...args], variables), ({ ended }) => ended)
          )
        assert.include((yield* cli("account", "create", "--help")).out, "murmuration account create ada")
        const created = yield* cli("account", "create", "ada", "--email", "ada@example.org", "--confirmed")
        assert.strictEqual(created.code, 0, created.err)
        const token = /[\w-]{40,}/.exec((yield* cli("token", "create", "ada", "--scopes", "read write")).out)?.[0]

        const fetched = (path: string, init: RequestInit = {}) =>
          Effect.promise(async () => {
            const response = await fetch(`http://127.0.0.1:${port}${path}`, {
              ...init,
              headers: { authorization: `Bearer ${token}` }
            })
            return { status: response.status, type: response.headers.get("content-type"), body: await response.text() }
          })
        const instance = yield* fetched("/api/v2/instance")
        assert.strictEqual(instance.status, 200)
        assert.strictEqual(JSON.parse(instance.body).usage.users.active_month, 0)

        const png = yield* Effect.promise(() =>
          sharp({ create: { width: 64, height: 64, channels: 3, background: "#2a6f97" } }).png().toBuffer()
        )
        const file = new Blob([new Uint8Array(png)])
        const uploaded = yield* fetched("/api/v1/media", { method: "POST", body: form({ file }) })
        assert.strictEqual(uploaded.status, 200, uploaded.body)
        const posted = yield* fetched("/api/v1/statuses", {
          method: "POST",
          body: form({ "media_ids[]": JSON.parse(uploaded.body).id })
        })
        assert.strictEqual(posted.status, 200, posted.body)

        for (const path of ["/about", "/docs"]) assert.strictEqual((yield* fetched(path)).status, 200, path)
      })
  )
})
