import { Effect } from "effect"
import { isIP } from "node:net"
import { connect } from "node:tls"
import { OperatorError } from "../OperatorError.ts"

/** Timeout of the connection, in milliseconds. */
const millisMax = 5_000

/** Certificate of a server. */
interface Certificate {
  readonly until: Date
  /** Reason why clients refuse the certificate; undefined if they accept it. */
  readonly problem: string | undefined
}

/** Returns the certificate at a TLS port, also one that clients refuse. */
export const certificateAt = (host: string, port: number): Effect.Effect<Certificate, OperatorError> =>
  Effect.callback((resume) => {
    const socket = connect({
      host,
      port,
      timeout: millisMax,
      rejectUnauthorized: false,
      ...(isIP(host) === 0 && { servername: host })
    })
    const fail = (message: string) => {
      socket.destroy()
      resume(Effect.fail(new OperatorError({ message: `${host}:${port}: ${message}` })))
    }
    socket.once("error", ({ message }) => fail(message))
    socket.once("timeout", () => fail(`no TLS connection within ${millisMax} ms`))
    socket.once("secureConnect", () => {
      const until = socket.getPeerX509Certificate()?.validTo ?? ""
      const problem = socket.authorized ? undefined : String(socket.authorizationError)
      socket.destroy()
      resume(Effect.succeed({ until: new Date(until), problem }))
    })
    return Effect.sync(() => socket.destroy())
  })
