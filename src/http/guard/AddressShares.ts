/** Maximum concurrent entries: in total, and per address (an IPv6 address by its /64). */
export interface Bounds {
  readonly atOnceMax: number
  readonly perAddressMax: number
}

/** Counts entries by address, so that a flood from one leaves capacity for all others. */
export const make = ({ atOnceMax, perAddressMax }: Bounds) => {
  const by = new Map<string, number>()
  let all = 0
  return {
    /** Admits an entry, or returns the bound that is reached. */
    enter: (address: string): "busy" | "address" | undefined => {
      const count = by.get(address) ?? 0
      if (all >= atOnceMax) return "busy"
      if (count >= perAddressMax) return "address"
      all++
      by.set(address, count + 1)
      return undefined
    },
    leave: (address: string): void => {
      const left = (by.get(address) ?? 1) - 1
      all--
      if (left === 0) by.delete(address)
      else by.set(address, left)
    }
  }
}

export type AddressShares = ReturnType<typeof make>
