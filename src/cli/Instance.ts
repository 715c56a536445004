import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { OperatorError } from "../layers/OperatorError.ts"
import { imageBytesMax } from "../services/instance/ContentLimits.ts"
import { InstanceThumbnails } from "../services/media/InstanceThumbnails.ts"
import { traced } from "../services/Traced.ts"
import { rules } from "./InstanceRules.ts"
import { set, show } from "./InstanceTexts.ts"
import { refuse } from "./Lookup.ts"
import * as MediaServices from "./MediaServices.ts"
import { file, pictureAt } from "./PictureFile.ts"

const thumbnail = Command.make(
  "thumbnail",
  {
    file: Argument.optional(file),
    description: Flag.String("description").pipe(
      Flag.withDescription("What the picture shows, for who does not see it"),
      Flag.withDefault("")
    ),
    remove: Flag.Boolean("remove").pipe(
      Flag.withDescription("Shows the server's own picture again"),
      Flag.withDefault(false)
    )
  },
  traced("instance thumbnail")(function*(given) {
    const thumbnails = yield* InstanceThumbnails
    if (given.remove) {
      yield* thumbnails.remove
      return yield* Console.log("The server's own picture is shown.")
    }
    if (Option.isNone(given.file)) return yield* new OperatorError({ message: "Name a picture, or --remove" })
    yield* refuse(thumbnails.set(yield* pictureAt(given.file.value, imageBytesMax), given.description))
    yield* Console.log("The picture was set.")
  }, (effect) => Effect.provide(effect, MediaServices.layer))
).pipe(Command.withDescription("Sets the picture by which the server is shown, best 2400x1260 pixels"))

export const command = Command.make("instance").pipe(
  Command.withDescription("What the server says about itself"),
  Command.withSubcommands([show, set, rules, thumbnail])
)
