//! Resources that processes have used: processor time and memory, from `/proc`.

use crate::House;

/// Ticks a second in which Linux counts a process's time.
const TICKS: f64 = 100.0;

/// Seconds that a process itself has had of a processor.
pub fn processor_time(pid: u32) -> f64 {
    times(pid).expect("a process that runs")[..2].iter().sum()
}

/// Processor seconds of a house: its processes, the children that they waited for, and the children that this process
/// started for it and waited for.
pub fn of_house(house: &House) -> f64 {
    let processes = house.processes().into_iter();
    // One may end in between; its parent has its time then.
    let theirs: f64 = processes
        .filter_map(|process| times(process.pid))
        .map(|times| times.iter().sum::<f64>())
        .sum();
    theirs + of_children()
}

/// Seconds that the processes have had which this one has waited for.
pub fn of_children() -> f64 {
    times(std::process::id()).expect("our own")[2..]
        .iter()
        .sum()
}

/// Bytes of a process that are in memory; 0 if it is gone.
pub fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|rest| rest.trim().strip_suffix(" kB"));
    kilobytes.map_or(0, |number| number.parse().unwrap_or(0) * 1024)
}

/// Seconds: of it in its own code, in the kernel; of its children that it has waited for, the same.
fn times(pid: u32) -> Option<[f64; 4]> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before may have blanks in it.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut ticks = fields.split_whitespace().skip(11);
    let mut next = || ticks.next()?.parse::<f64>().ok().map(|ticks| ticks / TICKS);
    Some([next()?, next()?, next()?, next()?])
}
