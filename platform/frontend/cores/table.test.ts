import { expect, test } from "vitest";
import { errorCurve, tableRows as errorRows } from "./difference-error";
import { exampleGradients, ringAllReduce, tableRows as ringRows } from "./ring-allreduce";
import { numberColumns } from "./table";

test("words are not taken for numbers", () => {
  expect(numberColumns(ringRows(ringAllReduce(exampleGradients(4))))).toEqual([true, false, false, true, true]);
});

test("numbers of every kind are", () => {
  expect(numberColumns([...errorRows(errorCurve("cube", 1.5)), ...errorRows(errorCurve("root", 0))])).toEqual([true, true, true, true, true]);
});

test("one word in a column makes it a column of words, and no rows have no columns", () => {
  expect(numberColumns([["1", "2"], ["−1e−7", "two"]])).toEqual([true, false]);
  expect(numberColumns([])).toEqual([]);
});
