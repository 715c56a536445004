import { assert, describe, it } from "@effect/vitest"
import { Cause, Console, Effect, Layer, Logger, Schema } from "effect"
import { ConnectionError, SqlError, SqlSyntaxError } from "effect/sql/SqlError"
import { Console as NodeConsole } from "node:console"
import { PassThrough } from "node:stream"
import { OperatorError } from "../../../src/layers/OperatorError.ts"
import { linesIn } from "../../../src/layers/Telemetry.ts"
import { EmailNotSent } from "../../../src/services/emails/Mailer.ts"
import { StorageFailed } from "../../../src/services/media/Storage.ts"
import { ProviderFailed } from "../../../src/services/oidc/IdentityProvider.ts"
import { ErrorResponse, Unreachable } from "../../../src/services/outbound/OutboundError.ts"
import { Unavailable } from "../../../src/services/runtime/Errors.ts"

/** Returns the log output of work in a format. */
const logged = (format: "json" | "logfmt", work: Effect.Effect<unknown>) =>
  Effect.gen(function*() {
    const out = new PassThrough()
    yield* work.pipe(Effect.provide(
      Layer.merge(Layer.succeed(Console.Console, new NodeConsole(out)), Logger.layer([linesIn(format)]))
    ))
    return String(out.read())
  })
const inJson = (work: Effect.Effect<unknown>) => Effect.map(logged("json", work), (line) => JSON.parse(line))

/** Returns the keys of a logfmt line. */
const keysOf = (line: string) =>
  [...line.trimEnd().matchAll(/(?:^| )([^\s="]+)=(?:"(?:[^"\\]|\\.)*"|[^\s"]*)/g)].map(([, key]) => key)

const Drawn = Schema.Struct({
  annotations: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null])),
  labels: Schema.Array(Schema.Union([Schema.String, Schema.Literals(["level", "error", "a b", "a_b", "a=b"])])),
  messages: Schema.NonEmptyArray(Schema.String)
})

describe("log lines", () => {
  it.effect.prop(
    "F282: have each key once, whatever annotations, spans and messages are called",
    [Drawn],
    ([drawn]) =>
      Effect.gen(function*() {
        const work = drawn.labels.reduce(
          (inner, label) => inner.pipe(Effect.withLogSpan(label), Effect.annotateLogs(label, 1)),
          Effect.annotateLogs(Effect.logInfo(...drawn.messages), drawn.annotations)
        )
        const line = yield* logged("logfmt", work)
        assert.match(line, /^[^\n\r\u2028\u2029]*\n$/)
        const keys = keysOf(line)
        assert.deepStrictEqual(keys, [...new Set(keys)])
        assert.deepStrictEqual(keys.slice(0, 4), ["timestamp", "level", "fiber", "message"])
        const record = yield* logged("json", work)
        assert.match(record, /^[^\n\r\u2028\u2029]*\n$/)
        const { annotations = {}, spans = {} } = JSON.parse(record)
        assert.lengthOf(Object.keys(spans), drawn.labels.length)
        assert.lengthOf(Object.keys(annotations), new Set([...drawn.labels, ...Object.keys(drawn.annotations)]).size)
        assert.lengthOf(keys, 4 + Object.keys(spans).length + Object.keys(annotations).length)
      })
  )

  it.effect("in JSON have time, level, message, fiber, spans, annotations and errors", () =>
    Effect.gen(function*() {
      const record = yield* inJson(
        Effect.logWarning("the \"sweep\"\nfailed", Cause.fail(new Unavailable())).pipe(
          Effect.annotateLogs({ rows: 3, done: false, host: "há.example", more: { of: [1n] } }),
          Effect.withLogSpan("sweep")
        )
      )
      assert.match(record.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.match(record.fiber, /^#\d+$/)
      assert.deepInclude(record, {
        level: "WARN",
        message: "the \"sweep\"\nfailed",
        annotations: { rows: 3, done: false, host: "há.example", more: "{\"of\":[\"1\"]}" }
      })
      assert.strictEqual(record.errors[0].name, "Unavailable")
      assert.deepStrictEqual(Object.keys(record.spans), ["sweep"])
      assert.deepStrictEqual(Object.keys(yield* inJson(Effect.logInfo("x"))), ["time", "level", "message", "fiber"])
    }))

  for (const format of ["json", "logfmt"] as const) {
    it.effect(`row 82: have no secrets in ${format}, wherever they are`, () =>
      Effect.gen(function*() {
        const secret = "correct horse battery"
        const line = yield* logged(
          format,
          Effect.logError("Bearer correcthorsebattery", { password: secret, inner: [{ client_secret: secret }] }).pipe(
            Effect.annotateLogs({ Password: secret, url: "https://here/?access_token=horse", count: 1 })
          )
        )
        assert.notInclude(line, "horse")
        assert.include(line, "<redacted>")
      }))

    it.effect(`F246: have no control characters of strangers, and are bounded, in ${format}`, () =>
      Effect.gen(function*() {
        const line = yield* logged(
          format,
          Effect.logInfo("a\u001b[2J\u009b\u202e\nb", "c\u2028d", "e".repeat(1_000_000))
        )
        assert.match(line, /^[^\p{Cc}\u202e\u2028]*\n$/u)
        assert.isBelow(line.length, 20_000)
      }))
  }

  it.effect("write a value that JSON cannot hold as text", () =>
    Effect.gen(function*() {
      const circle: Record<string, unknown> = {}
      circle["self"] = circle
      const { annotations } = yield* inJson(
        Effect.annotateLogs(Effect.logInfo("x"), { circle, id: 5n, none: undefined, nan: NaN, error: new Error("no") })
      )
      assert.deepStrictEqual(annotations, {
        circle: "[object Object]",
        id: "5",
        none: "undefined",
        nan: "NaN",
        error: "Error: no"
      })
    }))
})

const system = (code: string) => Object.assign(new Error(`connect ${code} 127.0.0.1:5432`), { code })
const sqlError = (reason: SqlError["reason"]) => new SqlError({ reason })
const away = sqlError(new ConnectionError({ cause: system("ECONNREFUSED"), message: "cannot connect" }))

describe("a line about a failure", () => {
  const mendable = {
    "the database is away": away,
    "Postgres shuts down": Object.assign(new Error("terminating connection"), { code: "57P01" }),
    "the port is in use": system("EADDRINUSE"),
    "the disk is full": new Error("write failed", { cause: system("ENOSPC") }),
    "the mail server refuses": new EmailNotSent({ message: "550 no" }),
    "the bucket refuses": new StorageFailed({ text: "403 AccessDenied" }),
    "Redis is away": new Error("lost", { cause: system("ECONNRESET") }),
    "the OpenID provider is away": new ProviderFailed({ why: "no answer" }),
    "another server does not respond": new Unreachable({ url: "https://there", reason: "timeout" }),
    "another server fails": new ErrorResponse({ url: "https://there", status: 500, retryAfterSeconds: undefined }),
    "a setting is wrong": new OperatorError({ message: "PORT is taken" })
  }
  for (const [what, error] of Object.entries(mendable)) {
    it.effect(`F282: has a message and no stack if ${what}, even as a defect`, () =>
      Effect.gen(function*() {
        for (const cause of [Cause.fail(error), Cause.die(error)]) {
          const { errors } = yield* inJson(Effect.logError("work failed", cause))
          assert.lengthOf(errors, 1)
          assert.deepStrictEqual(Object.keys(errors[0]), ["name", "message"])
          assert.isAbove(errors[0].message.length, 3)
          const line = yield* logged("logfmt", Effect.logError("work failed", cause))
          assert.include(line, " error=")
          assert.notMatch(line, /stack=|\.ts:\d/)
        }
      }))
  }

  it.effect("states why the database is unavailable", () =>
    Effect.map(inJson(Effect.logError("x", Cause.fail(away))), ({ errors: [error] }) => {
      assert.deepStrictEqual(error, {
        name: "SqlError",
        message: "cannot connect: connect ECONNREFUSED 127.0.0.1:5432"
      })
    }))

  const faults = {
    "a defect": Cause.die(new TypeError("x is undefined")),
    "a wrong statement": Cause.fail(sqlError(new SqlSyntaxError({ cause: new Error("no column"), message: "failed" })))
  }
  for (const [what, cause] of Object.entries(faults)) {
    it.effect(`keeps the stack of ${what}`, () =>
      Effect.gen(function*() {
        const { errors } = yield* inJson(Effect.logError("work failed", cause))
        assert.match(errors[0].stack, /\.ts:\d/)
        assert.match(yield* logged("logfmt", Effect.logError("work failed", cause)), / stack=".*\.ts:\d/)
      }))
  }

  it.effect("includes an error that was logged next to the text, without a stack", () =>
    Effect.map(inJson(Effect.logError("a copy could not be stored", new StorageFailed({ text: "403" }))), (record) => {
      assert.strictEqual(record.message, "a copy could not be stored")
      assert.deepStrictEqual(record.errors, [{ name: "StorageFailed", message: "403" }])
    }))

  it.effect("has no stack of an expected error next to a defect, and mentions an interruption", () =>
    Effect.gen(function*() {
      const both = Cause.combine(Cause.fail(new Unavailable()), Cause.die(new Error("fault")))
      const { errors } = yield* inJson(Effect.logError("x", Cause.combine(both, Cause.interrupt(1))))
      assert.deepStrictEqual(errors.map((error: object) => "stack" in error), [false, true, false])
      assert.strictEqual(errors[2].name, "Interrupted")
    }))
})
