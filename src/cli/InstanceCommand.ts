import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { OperatorError } from "../layers/OperatorError.ts"
import { imageBytesMax } from "../services/instance/ContentLimits.ts"
import type { InstancePictureKind } from "../services/instance/PictureSettings.ts"
import { InstanceUploads } from "../services/media/InstanceUploads.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import { rules } from "./InstanceRulesCommand.ts"
import { set, show } from "./InstanceTexts.ts"
import { asOperatorError } from "./Lookup.ts"
import * as MediaServices from "./MediaServices.ts"
import { file, pictureAt } from "./PictureFile.ts"

const remove = Flag.Boolean("remove").pipe(
  Flag.withDescription("Restores the default image"),
  Flag.withDefault(false)
)

interface Given {
  readonly file: Option.Option<string>
  readonly remove: boolean
}

const change = Effect.fnUntraced(function*(kind: InstancePictureKind, given: Given, description: string) {
  const uploads = yield* InstanceUploads
  if (given.remove) {
    yield* asOperatorError(uploads.remove(undefined, kind))
    return yield* Console.log("The default image was restored.")
  }
  if (Option.isNone(given.file)) return yield* new OperatorError({ message: "Pass a picture file, or --remove" })
  yield* asOperatorError(uploads.set(undefined, kind, yield* pictureAt(given.file.value, imageBytesMax), description))
  yield* Console.log("The picture was set.")
})

const icon = (name: string, kind: InstancePictureKind, about: string) =>
  Command.make(
    name,
    { file: Argument.optional(file), remove },
    traced(`instance ${name}`)(
      (given) => change(kind, given, ""),
      (effect) => Effect.provide(effect, MediaServices.layer)
    )
  ).pipe(
    Command.withDescription(about),
    withExamples([`${name}.png`, about], ["--remove", "Restores the default image"])
  )

const thumbnail = Command.make(
  "thumbnail",
  {
    file: Argument.optional(file),
    description: Flag.String("description").pipe(
      Flag.withDescription("Alternative text of the picture"),
      Flag.withDefault("")
    ),
    remove
  },
  traced("instance thumbnail")(
    (given) => change("thumbnail", given, given.description),
    (effect) => Effect.provide(effect, MediaServices.layer)
  )
).pipe(
  Command.withDescription("Sets the server's thumbnail, best 2400x1260 pixels"),
  withExamples(["banner.jpg --description \"A flock over a lake\"", "Sets the thumbnail"], [
    "--remove",
    "Restores the default image"
  ])
)

export const command = Command.make("instance").pipe(
  Command.withDescription("Instance information"),
  withExamples(["set --title \"Birds of Bavaria\"", "Names the server"], ["rules list", "Lists the rules"]),
  Command.withSubcommands([
    show,
    set,
    rules,
    thumbnail,
    icon("icon", "appIcon", "Sets the app icon, best 512x512 pixels"),
    icon("favicon", "favicon", "Sets the favicon, best 48x48 pixels or larger")
  ])
)
