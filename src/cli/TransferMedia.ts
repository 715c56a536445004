import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer } from "effect"
import { Argument, Command } from "effect/cli"
import { Environment } from "../layers/Environment.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import * as MediaTransfer from "../layers/storage/MediaTransfer.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import { formatBytes } from "./PictureFile.ts"

export const command = Command.make(
  "media",
  {
    target: Argument.Literals("target", ["bucket", "folder"]).pipe(
      Argument.withDescription("Destination: bucket (S3_BUCKET) or folder (DATA_DIR/media)")
    )
  },
  traced("transfer media")(function*({ target }) {
    const { copied, present } = yield* MediaTransfer.run(target).pipe(
      Effect.catchTag("StorageFailed", ({ message }) => new OperatorError({ message }))
    )
    yield* Console.log(
      `Copied ${copied.files} files (${formatBytes(copied.bytes)}); ${present.files} were there already. Repeat the ` +
        "command to continue or to copy newer files; nothing was deleted."
    )
  }, (effect) => Effect.provide(effect, Layer.mergeAll(Environment.layer, NodeServices.layer, NodeCrypto.layer)))
).pipe(
  Command.withDescription("Copies uploaded files between DATA_DIR/media and the bucket; can be repeated"),
  withExamples(["bucket", "Copies files to the bucket"])
)
