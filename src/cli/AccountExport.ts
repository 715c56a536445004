import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer } from "effect"
import { Argument, Command } from "effect/cli"
import * as PersonalExport from "../layers/backup/PersonalExport.ts"
import { Environment } from "../layers/Environment.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import { connection } from "./MigrateCommand.ts"

export const command = Command.make(
  "export",
  {
    name: Argument.String("name").pipe(
      Argument.withDescription("Name of the account, or name@host for another server's")
    ),
    file: Argument.String("file").pipe(Argument.withDescription("JSON file to create"))
  },
  traced("account export")(function*({ file, name }) {
    const rows = yield* PersonalExport.write(name, file, yield* connection)
    yield* Console.log(
      `${file} has ${rows} rows about ${name}, without passwords, tokens and keys. Uploaded files are not in it.`
    )
  }, (effect) =>
    effect.pipe(
      Effect.scoped,
      Effect.provide(Layer.mergeAll(Environment.layer, NodeServices.layer, NodeCrypto.layer))
    ))
).pipe(
  Command.withDescription("Writes everything that the server knows about a person to a file"),
  withExamples(["ada ada.json", "Writes everything that the server knows about ada"])
)
