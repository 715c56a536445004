import { Effect, Layer } from "effect"
import { MediaRefused, MediaTools } from "../../services/media/MediaTools.ts"
import { traced } from "../../services/Traced.ts"
import * as Pictures from "./Pictures.ts"

/** sharp for pictures. */
export const layer = Layer.sync(MediaTools, () => {
  const types = new Set(Pictures.pictureTypes)
  return MediaTools.of({
    types,
    attachment: traced("MediaTools.attachment")((source, folder) =>
      types.has(source.type.mime)
        ? Pictures.attachment(source, folder)
        : Effect.fail(new MediaRefused({ text: "Validation failed: File content type is invalid, File is invalid" }))
    ),
    profilePicture: traced("MediaTools.profilePicture")(Pictures.profilePicture)
  })
})
