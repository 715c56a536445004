/** The row of a statement that gives exactly one, as INSERT ... RETURNING does; none is a defect of the statement. */
export const only = <Row>([row]: ReadonlyArray<Row>): Row => {
  if (row === undefined) throw new Error("A statement that gives one row gave none")
  return row
}

/** Elements that Postgres expects of an array which it does not see while it plans. */
const plannedElements = 10

/**
 * The values of an array parameter, at least ten, the last one repeated. Postgres plans with ten for an array that it
 * does not know; a shorter one looks so much cheaper that it would plan the whole query anew each time, at several times
 * the cost of running it. For queries to which a repeated value makes no difference.
 */
export const padded = <A>(values: ReadonlySet<A>): ReadonlyArray<A> => {
  const array = [...values]
  const last = array.at(-1)
  return last === undefined || array.length >= plannedElements
    ? array
    : [...array, ...Array<A>(plannedElements - array.length).fill(last)]
}

/** What a statement for many keys gives for each of them; none is a defect of the statement. */
export const known = <A>(value: A | undefined): A => {
  if (value === undefined) throw new Error("A statement did not give what it gives for every key")
  return value
}

/**
 * The values of an array parameter of which some may be null, as the driver takes it: where all are, their type is what the
 * statement says.
 */
export const nullable = <A>(values: ReadonlyArray<A | null>): ReadonlyArray<A | null> | string =>
  values.every((value) => value === null) ? `{${values.map(() => "NULL").join(",")}}` : values
