import { Console, Effect, FileSystem, Layer, Option, Path, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { serverConfig } from "../layers/Environment.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import { Filters } from "../services/filters/Filters.ts"
import { traced } from "../services/runtime/Traced.ts"
import { terminalText } from "../services/text/TerminalText.ts"
import { FileImports } from "../services/transfers/FileImports.ts"
import { decodeOptions } from "../services/transfers/ImportLine.ts"
import { exportKinds, ListExports } from "../services/transfers/ListExports.ts"
import { fileBytesMax } from "../services/transfers/ListFileText.ts"
import { listKinds, type Transfer } from "../services/transfers/Transfer.ts"
import { Transfers } from "../services/transfers/Transfers.ts"
import { withExamples } from "./Examples.ts"
import { asOperatorError, findUser } from "./Lookup.ts"
import * as Operator from "./Operator.ts"
import { json, printList } from "./Output.ts"

const name = Argument.String("name").pipe(Argument.withDescription("Name of the account, without @ and domain"))

const services = Layer.mergeAll(ListExports.layer, FileImports.layer).pipe(
  Layer.provide(Filters.layer),
  Layer.provideMerge(serverConfig),
  Layer.provideMerge(Operator.layer)
)

/** Prints one of an account's lists. */
export const exportLists = Command.make(
  "export-lists",
  {
    name,
    kind: Flag.Literals("kind", exportKinds).pipe(Flag.withDescription("List to print")),
    output: Flag.String("output").pipe(
      Flag.withDescription("File to write; without it, the list is printed without control characters"),
      Flag.optional
    )
  },
  traced("account export-lists")(function*(given) {
    const exports = yield* ListExports
    const fs = yield* FileSystem.FileSystem
    const { accountId } = yield* findUser(given.name)
    const file = Stream.orDie(exports.file(accountId, given.kind))
    if (Option.isNone(given.output)) {
      return yield* Stream.runForEach(file, (text) => Console.log(terminalText(text).replace(/\n$/, "")))
    }
    yield* Stream.run(Stream.encodeText(file), fs.sink(given.output.value)).pipe(asOperatorError)
    yield* Console.log(`The list was written to ${given.output.value}.`)
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Writes a list of an account as CSV, or its filters as JSON"),
  withExamples(["ada --kind follows", "Prints the accounts that ada follows as CSV"], [
    "ada --kind blocks --output blocks.csv",
    "Writes ada's blocks to a file"
  ])
)

const summary = ({ added, failed, processed, removed, total }: Transfer) =>
  `${processed} of ${total} lines: ${added} added, ${removed} removed, ${failed} failed`

/** Confirms an overwriting import, unless its file seems to have another list: then nothing is removed. */
const confirmRemovals = Effect.fnUntraced(
  function*(transfer: Transfer, file: string, likelyKind: string | undefined) {
    const { accountId, id, kind } = transfer
    const imports = yield* FileImports
    const transfers = yield* Transfers
    if (likelyKind !== undefined) {
      yield* transfers.cancel(accountId, id)
      return yield* new OperatorError({
        message:
          `${file} looks like ${likelyKind}, so nothing of ${kind} was removed. Rename the file if it has ${kind}.`
      })
    }
    const plan = yield* imports.plan(transfer)
    yield* transfers.confirm(accountId, id)
    yield* Console.log(`Entries that will be removed, as the file does not have them: ${plan?.removed ?? 0}.`)
  },
  asOperatorError
)

/** Imports a file into one of an account's lists. */
export const importList = Command.make(
  "import",
  {
    name,
    file: Argument.String("file").pipe(Argument.withDescription("CSV file, or JSON file of filters")),
    kind: Flag.Literals("kind", listKinds).pipe(
      Flag.withDescription("List that the file is for; detected from the file if it is not given"),
      Flag.optional
    ),
    overwrite: Flag.Boolean("overwrite").pipe(
      Flag.withDescription("Removes entries that are not in the file"),
      Flag.withDefault(false)
    ),
    follow: Flag.Boolean("follow").pipe(
      Flag.withDescription("Follows the accounts of imported lists"),
      Flag.withDefault(false)
    )
  },
  traced("account import")(function*(given) {
    const fs = yield* FileSystem.FileSystem
    const imports = yield* FileImports
    const path = yield* Path.Path
    const { accountId } = yield* findUser(given.name)
    const { size } = yield* fs.stat(given.file).pipe(asOperatorError)
    if (Number(size) > fileBytesMax) {
      return yield* new OperatorError({ message: `${given.file} is larger than ${fileBytesMax / 1_048_576} MB` })
    }
    const transfer = yield* imports.begin(accountId, {
      bytes: yield* fs.readFile(given.file).pipe(asOperatorError),
      fileName: path.basename(given.file),
      kind: Option.getOrUndefined(given.kind),
      overwrite: given.overwrite,
      follow: given.follow
    }, !given.overwrite).pipe(asOperatorError)
    const { seems } = yield* Effect.orDie(decodeOptions(transfer.options))
    if (given.overwrite) yield* confirmRemovals(transfer, given.file, seems)
    else if (seems !== undefined) yield* Console.warn(`Warning: ${given.file} looks like ${seems}.`)
    yield* Console.log(`Import ${transfer.id} of ${transfer.total} lines has started.`)
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Imports a file into a list of an account; the server does the work"),
  withExamples(["ada following_accounts.csv", "Adds the follows of the file"], [
    "ada blocks.csv --kind blocks --overwrite",
    "Replaces ada's blocks"
  ])
)

/** Prints the imports of an account. */
export const imports = Command.make(
  "imports",
  { name, json },
  traced("account imports")(function*(given) {
    const transfers = yield* Transfers
    const { accountId } = yield* findUser(given.name)
    const found = yield* transfers.list(accountId)
    yield* printList(
      given.json,
      found,
      found.map((transfer) => `${transfer.id} ${transfer.kind} ${transfer.state} ${summary(transfer)}`),
      "There are no imports."
    )
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Prints the imports of an account and their progress"),
  withExamples(["ada", "Prints the imports of ada, newest first"])
)
