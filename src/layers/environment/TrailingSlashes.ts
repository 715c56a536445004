/** Removes slashes from the end of a URL. */
export const withoutTrailingSlashes = (address: string): string => {
  let end = address.length
  while (address.charAt(end - 1) === "/") end--
  return address.slice(0, end)
}
