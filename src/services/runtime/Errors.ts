import { Effect, Schema } from "effect"

/*
 * Errors that a command or a read may fail with. `message` is the text that clients know, the annotation is the HTTP
 * status (operations.md section 0, "Error bodies"). Texts of a single rule are next to the rule.
 */

export class BadRequest extends Schema.TaggedError<BadRequest>()("BadRequest", { text: Schema.String }, {
  httpApiStatus: 400
}) {
  override get message() {
    return this.text
  }
}

/** Returns the error for a required parameter that is absent or empty. */
export const missingParameter = (name: string) =>
  new BadRequest({ text: `param is missing or the value is empty or invalid: ${name}` })

export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {
  reason: Schema.Literals(["invalid", "revoked", "expired", "user required", "search paging", "search resolving"])
}, { httpApiStatus: 401 }) {
  override get message() {
    switch (this.reason) {
      case "invalid":
        return "The access token is invalid"
      case "revoked":
        return "The access token was revoked"
      case "expired":
        return "The access token expired"
      case "user required":
        return "This method requires an authenticated user"
      case "search paging":
        return "Search queries pagination is not supported without authentication"
      case "search resolving":
        return "Search queries that resolve remote resources are not supported without authentication"
    }
  }
}

export class NotAllowed extends Schema.TaggedError<NotAllowed>()("NotAllowed", {
  text: Schema.String.pipe(Schema.withConstructorDefault(Effect.succeed("This action is not allowed")))
}, { httpApiStatus: 403 }) {
  override get message() {
    return this.text
  }
}

export class RecordNotFound extends Schema.TaggedError<RecordNotFound>()("RecordNotFound", {
  text: Schema.String.pipe(Schema.withConstructorDefault(Effect.succeed("Record not found")))
}, { httpApiStatus: 404 }) {
  override get message() {
    return this.text
  }
}

export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", {}, { httpApiStatus: 409 }) {
  override get message() {
    return "Conflict during update, please try again"
  }
}

export class Gone extends Schema.TaggedError<Gone>()("Gone", {}, { httpApiStatus: 410 }) {
  override get message() {
    return "Gone"
  }
}

/** A well-formed but invalid request; `details` are by field, as in sign-up errors. */
export class Unprocessable extends Schema.TaggedError<Unprocessable>()("Unprocessable", {
  text: Schema.String,
  details: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.Array(Schema.Struct({ error: Schema.String, description: Schema.String }))
    )
  )
}, { httpApiStatus: 422 }) {
  override get message() {
    return this.text
  }
}

/** Returns `Validation failed: <Attribute> <message>[, ...]`. */
export const validationFailed = (...problems: ReadonlyArray<string>) =>
  new Unprocessable({ text: `Validation failed: ${problems.join(", ")}` })

/** A post matches a spam rule; the response does not tell which one. */
export const refusedBySpamRule = new Unprocessable({ text: "This post was rejected by a spam rule of this server" })

/** A post would be sent to accounts that are not in `allowed_mentions`; `accountIds` are decimal strings. */
export class UnexpectedMentions extends Schema.TaggedError<UnexpectedMentions>()("UnexpectedMentions", {
  accountIds: Schema.Array(Schema.String)
}, { httpApiStatus: 422 }) {
  override get message() {
    return "Post would be sent to unexpected accounts"
  }
}

/** A rate limit is exceeded; `resetAt` is in milliseconds since 1970. */
export class TooManyRequests extends Schema.TaggedError<TooManyRequests>()("TooManyRequests", {
  limit: Schema.Int,
  resetAt: Schema.Int
}, { httpApiStatus: 429 }) {
  override get message() {
    return "Too many requests"
  }
}

/** Storage, the account's owner or its mailbox did not respond in time; the client may retry. */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", {
  retryAfterSeconds: Schema.Int.pipe(Schema.withConstructorDefault(Effect.succeed(5)))
}, { httpApiStatus: 503 }) {
  override get message() {
    return "There was a temporary problem serving your request, please try again"
  }
}

/** A backend of one feature does not respond, or is temporarily disabled. */
export class BackendFailed extends Schema.TaggedError<BackendFailed>()("BackendFailed", {
  text: Schema.String.pipe(Schema.withConstructorDefault(Effect.succeed("Service Unavailable")))
}, { httpApiStatus: 503 }) {
  override get message() {
    return this.text
  }
}

/** Errors that may be sent to clients. */
export const ClientError = Schema.Union([
  BadRequest,
  Unauthorized,
  NotAllowed,
  RecordNotFound,
  Conflict,
  Gone,
  Unprocessable,
  UnexpectedMentions,
  TooManyRequests,
  Unavailable,
  BackendFailed
])
export type ClientError = typeof ClientError.Type
