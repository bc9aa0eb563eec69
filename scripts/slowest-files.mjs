/** The reporter that shows where the time of a test run went: its ten slowest files, with the time of their imports. */
const SHOWN = 10;

export default class SlowestFiles {
  onTestRunEnd(modules) {
    const rows = modules.map((module) => {
      const { duration, collectDuration, setupDuration } = module.diagnostic();
      return {
        ms: duration + collectDuration + setupDuration,
        file: module.relativeModuleId,
        project: module.project.name,
      };
    });
    if (rows.length < SHOWN) return;

    const slowest = rows.toSorted((a, b) => b.ms - a.ms).slice(0, SHOWN);
    console.log(`\nThe ${SHOWN} slowest of ${rows.length} files:`);
    for (const { ms, file, project } of slowest) {
      console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${file} (${project})`);
    }
  }
}
