import { Effect, Redacted } from "effect"
import { lookup } from "node:dns/promises"
import { connect, type Socket } from "node:net"
import { TLSSocket } from "node:tls"
import type SMTPConnection from "nodemailer/lib/smtp-connection"
import { traced } from "../../services/runtime/Traced.ts"
import { OperatorError } from "../OperatorError.ts"

/** Timeout of each step, in milliseconds. */
const stepMillisMax = 10_000

/** A step that succeeded: its subject, and its result in words. */
export interface Step {
  readonly subject: string
  readonly words: string
}

type Report = (step: Step) => Effect.Effect<void>

/** Advice for the operator, by error code of the socket or of nodemailer. */
const advice: Readonly<Record<string, string>> = {
  ENOTFOUND: "Correct the host in SMTP_URL.",
  EAI_AGAIN: "The name servers of this machine do not respond.",
  ECONNREFUSED: "Correct the port in SMTP_URL; usual ones are 465 (smtps://), 587 and 25 (smtp://).",
  ETIMEDOUT: "A firewall may drop the connection; many providers block port 25, use 587 or 465.",
  ETLS:
    "Use the host name of the server's certificate in SMTP_URL; smtps:// is TLS from the first byte (465), smtp:// " +
    "begins without it (587, 25).",
  EAUTH: "Correct user and password in SMTP_URL; special characters are percent-encoded.",
  ENOAUTH: "The server wants a user and a password: smtps://user:password@host.",
  EENVELOPE: "The server refuses the sender (MAIL_FROM) or the recipient.",
  EMESSAGE: "The server refuses the message."
}

/** Thread and number of an OpenSSL error, which tell the operator nothing. */
const opensslPrefix = /^[0-9A-F]{1,32}:error:[0-9A-F]{1,16}:/

const failed = (subject: string, error: Error, code?: string) => {
  const own = code ?? ("code" in error && typeof error.code === "string" ? error.code : "")
  const reason = error.message.trim().replace(opensslPrefix, "")
  const words = [`${subject}: ${reason}`, advice[own]].filter((part) => part !== undefined)
  return new OperatorError({ message: words.join("\n       ") })
}

const asError = (cause: unknown) => cause instanceof Error ? cause : new Error(String(cause))

const resolved = (host: string) =>
  Effect.tryPromise({
    try: () => lookup(host, { all: true }),
    catch: (cause) => failed("Name", asError(cause))
  })

const timedOut = () => Object.assign(new Error(`no connection within ${stepMillisMax} ms`), { code: "ETIMEDOUT" })

const connected = (host: string, port: number) =>
  Effect.callback<Socket, OperatorError>((resume) => {
    const socket = connect({ host, port, autoSelectFamily: true, timeout: stepMillisMax })
    socket.once("error", (error) => resume(Effect.fail(failed("Connection", error))))
    socket.once("timeout", () => {
      socket.destroy()
      resume(Effect.fail(failed("Connection", timedOut())))
    })
    socket.once("connect", () => {
      socket.setTimeout(0)
      resume(Effect.succeed(socket))
    })
    return Effect.sync(() => socket.destroy())
  })

const encryption = (socket: unknown): string => {
  if (!(socket instanceof TLSSocket)) return "none: password and e-mails are not encrypted on the way"
  const until = socket.getPeerX509Certificate()?.validTo
  return `${socket.getProtocol() ?? "TLS"}, certificate valid until ${until}`
}

const hasStartedTls = (options: SMTPConnection.Options, { code, message }: { code?: string; message: string }) =>
  options.secure === true || code === "ETLS" || /certificate|tls|ssl/i.test(message)

/** Returns the code for the advice about a refused message; the connection works, so a timeout gets none. */
const messageCodeOf = ({ code = "", message }: SMTPConnection.SMTPError) =>
  /\b530\b/.test(message) ? "ENOAUTH" : code === "ETIMEDOUT" ? "" : code

/**
 * Opens a session with the mail server of a URL like `SMTP_URL`, step by step: name, connection, TLS, sign-in. Reports
 * each step that succeeds; fails with the step, the reason and advice. The session ends with the scope.
 */
export const open = traced("SmtpSession.open")(function*(url: Redacted.Redacted<string>, report: Report) {
  const [{ parseConnectionUrl }, { default: Connection }] = yield* Effect.promise(() =>
    Promise.all([import("nodemailer/lib/shared"), import("nodemailer/lib/smtp-connection")])
  )
  const options = parseConnectionUrl(Redacted.value(url))
  const host = (options.host ?? "localhost").replaceAll(/^\[|\]$/g, "")
  const port = options.port ?? (options.secure === true ? 465 : 587)
  const addresses = yield* resolved(host)
  yield* report({ subject: "Name", words: `${host} is ${addresses.map(({ address }) => address).join(", ")}` })

  const socket = yield* Effect.acquireRelease(connected(host, port), (open) => Effect.sync(() => open.destroy()))
  yield* report({ subject: "Connection", words: `${socket.remoteAddress} port ${port}` })

  const session = yield* Effect.acquireRelease(
    Effect.sync(() =>
      new Connection({
        ...options,
        host,
        port,
        connection: socket,
        greetingTimeout: stepMillisMax,
        socketTimeout: stepMillisMax
      })
    ),
    (connection) => Effect.sync(() => connection.close())
  )
  yield* Effect.callback<void, OperatorError>((resume) => {
    const fail = (error: SMTPConnection.SMTPError) => {
      const isTls = hasStartedTls(options, { message: error.message, ...(error.code && { code: error.code }) })
      resume(Effect.fail(isTls ? failed("TLS", error, "ETLS") : failed("Greeting", error)))
    }
    session.on("error", fail)
    session.connect((error) => error === undefined || error === null ? resume(Effect.void) : fail(error))
  })
  yield* report({ subject: "TLS", words: encryption(session._socket) })

  const { auth } = options
  if (auth !== undefined && "user" in auth) {
    yield* Effect.callback<void, OperatorError>((resume) => {
      session.login(
        auth,
        (error) => resume(error === undefined || error === null ? Effect.void : Effect.fail(failed("Sign-in", error)))
      )
    })
    yield* report({ subject: "Sign-in", words: `as ${auth.user}` })
  } else {
    yield* report({ subject: "Sign-in", words: "none, because SMTP_URL has no user" })
  }

  return {
    /** Sends a prepared message; returns the server's reply. */
    send: (envelope: SMTPConnection.Envelope, message: Buffer) =>
      Effect.callback<string, OperatorError>((resume) => {
        session.send(envelope, message, (error, info) =>
          resume(
            error === undefined || error === null
              ? Effect.succeed(info.response)
              : Effect.fail(failed("Message", error, messageCodeOf(error)))
          ))
      })
  }
})
