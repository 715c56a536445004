/** Formats bytes for people, in steps of 1,024 as in Mastodon. */
export const formatBytes = (bytes: bigint): string => {
  const units = ["Bytes", "KB", "MB", "GB", "TB", "PB"]
  const step = bytes <= 0n ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(Number(bytes)) / 10))
  const value = Number(bytes) / 1_024 ** step
  return `${step === 0 ? value : Number(value.toPrecision(3))} ${units[step]}`
}
