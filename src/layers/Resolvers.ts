import { Resolver } from "node:dns/promises"

/** Timeout of a DNS query in milliseconds, and its tries. */
const questionMillisMax = 2_000
const questionsMax = 1

/** Returns a resolver that asks these name servers; those of the machine if there are none. */
export const makeResolver = (nameServers: ReadonlyArray<string>): Resolver => {
  const resolver = new Resolver({ timeout: questionMillisMax, tries: questionsMax })
  if (nameServers.length > 0) resolver.setServers(nameServers)
  return resolver
}
