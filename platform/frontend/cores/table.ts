/** Which columns of a figure's table hold numbers; twin of `pixelbank/chapters/figures/table.py`. */

/** As `number` in `difference-error.ts` writes them, and plain counts. */
const NUMBER = /^(?:−?[\d.]+(?:e−?\d+)?|not a number|infinite)$/;

/** For each column: whether all of its cells are numbers, so that heading and cells stand at its end. */
export function numberColumns(rows: readonly (readonly string[])[]): boolean[] {
  return (rows[0] ?? []).map((_, column) => rows.every((row) => NUMBER.test(row[column]!)));
}
