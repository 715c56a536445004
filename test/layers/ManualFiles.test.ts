import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { pathToFileURL } from "node:url"
import * as ManualFiles from "../../src/layers/ManualFiles.ts"
import { Manual } from "../../src/services/instance/Manual.ts"

layer(NodeServices.layer)("documents in a folder", (it) => {
  it.effect("are complete or absent: a package with README and without docs has none", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-manual-" })
      const names = Effect.flatMap(Manual, Effect.map((found) => [...found.keys()].toSorted())).pipe(
        Effect.provide(ManualFiles.layerOf(pathToFileURL(`${folder}/`)))
      )
      yield* fs.writeFileString(`${folder}/README.md`, "# Murmuration")
      assert.deepStrictEqual(yield* names, [])
      yield* fs.makeDirectory(`${folder}/docs/guide`, { recursive: true })
      yield* fs.writeFileString(`${folder}/docs/guide/index.md`, "# Guide")
      yield* fs.writeFileString(`${folder}/docs/guide/picture.svg`, "<svg/>")
      assert.deepStrictEqual(yield* names, ["README.md", "docs/guide/index.md"])
    }))
})
