import { createHash, createHmac, timingSafeEqual } from "node:crypto"

/** Time to solve a challenge, in milliseconds. */
export const proofMillisMax = 60 * 60_000

const bytesMax = 500

/** Signing key and subject of a challenge; random bytes tell challenges apart. */
interface ProofOptions {
  /** Signing key of the server. */
  readonly key: string
  /** Subject of the proof, such as the link of a sign-up. */
  readonly subject: string
}

const signature = ({ key, subject }: ProofOptions, head: string) =>
  createHmac("sha256", key).update(`proof of work\n${head}\n${subject}`).digest("base64url")

/** Makes a signed challenge; the hash of its proof must begin with `bits` zero bits. */
export const makeChallenge = (options: ProofOptions, chance: string, bits: number, now: number): string => {
  const head = `${bits}.${now + proofMillisMax}.${chance}`
  return `${head}.${signature(options, head)}`
}

const zeroBits = (hash: Uint8Array): number => {
  let bits = 0
  for (const byte of hash) {
    if (byte !== 0) return bits + Math.clz32(byte) - 24
    bits += 8
  }
  return bits
}

/**
 * Returns true if `number` solves an unexpired challenge that this server made for the subject. Used challenges are not
 * stored: a proof is only valid for its subject, which needs no second one.
 */
export const isProof = (options: ProofOptions, challenge: string, number: string, now: number): boolean => {
  if (challenge.length > bytesMax || !/^\d{1,15}$/.test(number)) return false
  const end = challenge.lastIndexOf(".")
  const head = challenge.slice(0, Math.max(0, end))
  const [bits, until] = head.split(".").map(Number)
  const [given, expected] = [Buffer.from(challenge.slice(end + 1)), Buffer.from(signature(options, head))]
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false
  if (bits === undefined || until === undefined || !(now < until)) return false
  return zeroBits(createHash("sha256").update(`${challenge}:${number}`).digest()) >= bits
}
