import { Schema } from "effect"
import { Visibility } from "../../services/statuses/Visibility.ts"

export const Preferences = Schema.Struct({
  "posting:default:visibility": Visibility,
  "posting:default:sensitive": Schema.Boolean,
  "posting:default:language": Schema.NullOr(Schema.String),
  "posting:default:quote_policy": Schema.Literals(["public", "followers", "nobody"]),
  "reading:expand:media": Schema.Literals(["default", "show_all", "hide_all"]),
  "reading:expand:spoilers": Schema.Boolean,
  "reading:autoplay:gifs": Schema.Boolean
}).annotate({ identifier: "Preferences" })
export type Preferences = typeof Preferences.Type

/** Preferences by the program's names; the API's names are not their snake_case. */
interface PreferenceValues {
  readonly visibility: Preferences["posting:default:visibility"]
  readonly sensitive: boolean
  readonly language: string | null
  readonly quotePolicy: Preferences["posting:default:quote_policy"]
  readonly expandMedia: Preferences["reading:expand:media"]
  readonly expandSpoilers: boolean
  readonly autoplayGifs: boolean
}

export const preferences = (values: PreferenceValues): Preferences => ({
  "posting:default:visibility": values.visibility,
  "posting:default:sensitive": values.sensitive,
  "posting:default:language": values.language,
  "posting:default:quote_policy": values.quotePolicy,
  "reading:expand:media": values.expandMedia,
  "reading:expand:spoilers": values.expandSpoilers,
  "reading:autoplay:gifs": values.autoplayGifs
})
