/** Ranks rows for a search text, best first: the id itself, its start, anywhere in it, then the description. */
export function rankBySearch<Row>(
  rows: Row[],
  search: string | undefined,
  texts: (row: Row) => { id: string; description: string },
): Row[] {
  const wanted = search?.trim().toLowerCase();
  if (!wanted) return rows;

  return rows
    .map((row) => ({ row, rank: rankOf(texts(row), wanted) }))
    .filter(({ rank }) => rank < MISS)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ row }) => row);
}

const MISS = 4;

function rankOf(texts: { id: string; description: string }, wanted: string): number {
  const id = texts.id.toLowerCase();
  if (id === wanted) return 0;
  if (id.startsWith(wanted)) return 1;
  if (id.includes(wanted)) return 2;
  return texts.description.toLowerCase().includes(wanted) ? 3 : MISS;
}
