import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, FileSystem, Path } from "effect"
import { Argument, Command } from "effect/cli"
import { staticManual } from "./http/docs/StaticManual.ts"
import * as ManualFiles from "./layers/ManualFiles.ts"
import { Manual } from "./services/instance/Manual.ts"
import { softwareVersion } from "./services/instance/Software.ts"

const folder = Argument.String("folder").pipe(
  Argument.withDescription("Folder to write to; existing pages are replaced"),
  Argument.withDefault("site")
)

/** Writes the documents of the repository as a static site. */
const command = Command.make(
  "docs",
  { folder },
  Effect.fnUntraced(function*({ folder }) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const files = staticManual(yield* yield* Manual)
    for (const [name, text] of files) {
      const file = path.join(folder, name)
      yield* fs.makeDirectory(path.dirname(file), { recursive: true })
      yield* fs.writeFileString(file, text)
    }
    yield* Console.log(`Wrote ${files.size} files to ${folder}.`)
  }, (effect) => Effect.provide(effect, ManualFiles.layer))
).pipe(Command.withDescription("Writes the documents as a static site"))

command.pipe(Command.run({ version: softwareVersion }), Effect.provide(NodeServices.layer), NodeRuntime.runMain)
