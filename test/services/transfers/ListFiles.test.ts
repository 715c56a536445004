import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { FileImports } from "../../../src/services/transfers/FileImports.ts"
import type { ListKind } from "../../../src/services/transfers/Transfer.ts"
import { Transfers } from "../../../src/services/transfers/Transfers.ts"
import { person } from "../../support/People.ts"
import { configuration } from "../../support/Reads.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const live = FileImports.layer.pipe(
  Layer.provideMerge(Layer.merge(TestDatabase.layer, Layer.succeed(ServerConfig, configuration)))
)

const given = (kind: ListKind | undefined, content: string | Uint8Array, overwrite = false) => ({
  bytes: typeof content === "string" ? new TextEncoder().encode(content) : content,
  fileName: "",
  kind,
  overwrite,
  follow: false
})

layer(live, { excludeTestServices: true })("files of lists", (it) => {
  it.effect("F254: are refused if they are empty, or would remove everything for no valid line", () =>
    Effect.gen(function*() {
      const [imports, transfers, nina] = [yield* FileImports, yield* Transfers, yield* person("nina")]
      for (
        const [kind, text, overwrite, problem] of [
          ["domain_blocks", "#domain\n", false, "Data can't be blank"],
          ["domain_blocks", "#domain,#severity\n", true, "Data can't be blank"],
          ["domain_blocks", "no domain\nalso none\n", true, "Data has no valid lines"],
          ["filters", "{\"custom_filters\":[]}", true, "Data can't be blank"]
        ] as const
      ) {
        const { text: said } = yield* Effect.flip(imports.begin(nina, given(kind, text, overwrite), true))
        assert.include(said, problem)
      }
      assert.deepStrictEqual(yield* transfers.list(nina), [])
    }))
})
