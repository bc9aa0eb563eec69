/** Makes something once for all who ask. A failure is not remembered: whoever asks next has it tried again. */
export function rememberSuccess<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
